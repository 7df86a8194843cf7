#include "app/engine/sources/worker_connection.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "app/engine/identity.h"

namespace sawtooth {

Outcome<std::unique_ptr<WorkerConnection>> WorkerConnection::start(const std::string& on,
                                                                   const std::string& cache_directory) {
    std::vector<std::string> words = {"/proc/self/exe", "worker"};
    if (!cache_directory.empty()) words.insert(words.end(), {"--cache-dir", cache_directory});
    if (!on.empty()) words = {"/bin/sh", "-c", on};
    auto process = WorkerProcess::start(std::move(words));
    if (!process) return process.error();
    std::unique_ptr<WorkerConnection> worker(new WorkerConnection(on, std::move(*process)));
    Hello hello = hello_from("");
    hello.packs = !on.empty();
    worker->send(hello);
    return worker;
}

WorkerConnection::Moved WorkerConnection::exchange(int milliseconds) {
    pollfd ends[] = {{process.output(), POLLIN, 0},
                     {process.errors(), POLLIN, 0},
                     {outgoing_.empty() ? -1 : process.input(), POLLOUT, 0}};
    const bool has_ended = process.has_ended();  // asked before reading, so that its last words are read
    if (::poll(ends, std::size(ends), has_ended ? 0 : milliseconds) < 0) return Moved::nothing;
    if (ends[1].revents) process.read_errors();
    const bool wrote = ends[2].revents && write();
    if (ends[0].revents) return read() ? Moved::something : Moved::ended;
    if (has_ended) return Moved::ended;
    return wrote ? Moved::something : Moved::nothing;
}

WorkerConnection::Moved WorkerConnection::catch_up() {
    Moved moved = Moved::something;
    for (int parts = 0; moved == Moved::something && parts < 64; ++parts) moved = exchange(0);
    return moved;
}

// A process that never sent a greeting may not exit by itself.
void WorkerConnection::leave() { process.end(greeting ? seconds_to_leave : 0); }

// A failed write is ignored: the worker has exited, and reading detects that.
bool WorkerConnection::write() {
    const ssize_t count = ::write(process.input(), outgoing_.data(), outgoing_.size());
    if (count > 0) outgoing_.erase(0, static_cast<size_t>(count));
    if (count < 0 && errno == EPIPE) outgoing_.clear();
    return count > 0;
}

bool WorkerConnection::read() {
    char part[1 << 14];
    const ssize_t count = ::read(process.output(), part, sizeof part);
    if (count > 0) frames.append({part, static_cast<size_t>(count)});
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace sawtooth

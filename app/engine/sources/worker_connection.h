#pragma once

#include <memory>
#include <string>

#include "app/engine/files/file_stamp.h"
#include "app/engine/sources/worker_process.h"
#include "app/engine/wire/messages.h"
#include "app/engine/wire/wire.h"

namespace sawtooth {

// A worker process and the messages to and from it.
class WorkerConnection {
  public:
    // Starts a worker by the shell command `on`, or if that is "", by running this program with this cache
    // directory. Sends the greeting.
    static Outcome<std::unique_ptr<WorkerConnection>> start(const std::string& on,
                                                            const std::string& cache_directory);

    void send(const ToWorker& message) { outgoing_ += framed(encode(message)); }
    bool all_is_sent() const { return outgoing_.empty(); }

    enum class Moved { nothing, something, ended };
    // Writes and reads as much as possible, waiting if necessary. The worker counts as ended once its process
    // has ended, even if other processes hold its pipes open.
    Moved exchange(int milliseconds);
    // Reads what arrived between jobs, which is little.
    Moved catch_up();

    static constexpr double seconds_to_leave = 1;  // time for a worker to exit once its input is closed
    void leave();

    const std::string on;
    WorkerProcess process;
    FrameReader frames;
    std::optional<Hello> greeting = {};
    FileStamp sent_file;

  private:
    WorkerConnection(std::string command, WorkerProcess started)
        : on(std::move(command)), process(std::move(started)) {}
    bool write();
    bool read();

    std::string outgoing_;
};

}  // namespace sawtooth

#include "app/engine/sources/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/engine/wire/wire.h"

namespace sawtooth {
namespace {

struct Pipe {
    Descriptor read, write;
};

// Duplicates a descriptor above the standard streams, even if the program was started without them, so that
// the child's streams can be installed one by one.
Descriptor above_standard_streams(int number) {
    if (number > STDERR_FILENO) return Descriptor(number);
    const Descriptor low(number);
    return Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::optional<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    Pipe pipe{above_standard_streams(ends[0]), above_standard_streams(ends[1])};
    if (!pipe.read || !pipe.write) return {};
    return pipe;
}

void never_block(const Descriptor& end) {
    ::fcntl(end.number(), F_SETFL, ::fcntl(end.number(), F_GETFL) | O_NONBLOCK);
}

// The settings of the child: pipes, no blocked or ignored signals, a session of its own.
class SpawnSettings {
  public:
    SpawnSettings(const Pipe& in, const Pipe& out, const Pipe& errors) {
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, in.read.number(), STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, out.write.number(), STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&files, errors.write.number(), STDERR_FILENO);
        posix_spawnattr_init(&attributes);
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
};

std::string words_of(int status) {
    if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

// Returns whether the child ends within `seconds`; 0 only looks. Does not reap it, so its process id stays
// valid.
bool ends_within(pid_t process, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    while (true) {
        siginfo_t ended = {};
        if (::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid == process)
            return true;
        if (Clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

// Keeps killed processes in uninterruptible sleep, for example on a network disk that does not respond: they
// end when the system lets them, and nobody waits for that.
class LeftBehind {
  public:
    void add(pid_t process) {
        const std::lock_guard lock(mutex_);
        processes_.push_back(process);
    }
    void reap() {
        const std::lock_guard lock(mutex_);
        std::erase_if(processes_, [](pid_t process) { return ::waitpid(process, nullptr, WNOHANG) != 0; });
    }

  private:
    std::mutex mutex_;
    std::vector<pid_t> processes_;
};

LeftBehind& left_behind() {
    static LeftBehind all;
    return all;
}

}  // namespace

Outcome<WorkerProcess> WorkerProcess::start(std::vector<std::string> words) {
    left_behind().reap();
    auto in = make_pipe(), out = make_pipe(), errors = make_pipe();
    if (!in || !out || !errors)
        return Error::failure(fmt::format("could not start the worker: pipe: {}", std::strerror(errno)));
    const SpawnSettings settings(*in, *out, *errors);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    WorkerProcess started;
    const int problem = ::posix_spawn(&started.process_, arguments[0], &settings.files, &settings.attributes,
                                      arguments.data(), environ);
    if (problem != 0) {
        started.process_ = -1;
        return Error::failure(
            fmt::format("could not start the worker: {}: {}", words.front(), std::strerror(problem)));
    }
    started.input_ = std::move(in->write);
    started.output_ = std::move(out->read);
    started.errors_ = std::move(errors->read);
    for (const Descriptor* end : {&started.input_, &started.output_, &started.errors_}) never_block(*end);
    return started;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      last_errors_(std::move(other.last_errors_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
    if (this == &other) return *this;
    end(0);
    process_ = std::exchange(other.process_, -1);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    errors_ = std::move(other.errors_);
    last_errors_ = std::move(other.last_errors_);
    return *this;
}

WorkerProcess::~WorkerProcess() { end(0); }

void WorkerProcess::close_input() { input_.close(); }

void WorkerProcess::read_errors() {
    constexpr size_t kept = 2048;
    char part[4096];
    constexpr int most_parts = 64;  // a flood of output must not keep the caller here
    ssize_t count = 1;
    for (int parts = 0; parts < most_parts && (count = ::read(errors(), part, sizeof part)) > 0; ++parts) {
        for (const char c : printable({part, static_cast<size_t>(count)}))
            last_errors_.push_back(c == '\n' || c == '\t' ? ' ' : c);
        if (last_errors_.size() > kept) last_errors_.erase(0, last_errors_.size() - kept);
    }
    if (count == 0) errors_.close();  // end of file
}

bool WorkerProcess::has_ended() const { return process_ < 0 || ends_within(process_, 0); }

std::string WorkerProcess::end(double seconds) {
    if (process_ < 0) return "";
    input_.close();
    const bool by_itself = ends_within(process_, seconds);
    // A launcher such as srun ends what it started elsewhere if it is told to end, but not if it is killed.
    constexpr double seconds_to_be_told = 0.5;
    if (!by_itself && ::kill(-process_, SIGTERM) == 0) ends_within(process_, seconds_to_be_told);
    // The group is killed even if the leader has exited: a launcher may have left processes behind.
    ::kill(-process_, SIGKILL);
    constexpr double seconds_to_be_killed = 0.5;
    int status = 0;
    if (ends_within(process_, seconds_to_be_killed))
        ::waitpid(process_, &status, 0);
    else
        left_behind().add(process_);
    process_ = -1;
    read_errors();
    output_.close();
    errors_.close();
    return by_itself ? words_of(status) : "";
}

}  // namespace sawtooth

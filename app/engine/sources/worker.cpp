#include "app/engine/sources/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "app/engine/check/check.h"
#include "app/engine/files/descriptor.h"
#include "app/engine/files/files.h"
#include "app/engine/guarded.h"
#include "app/engine/identity.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/measured_limits.h"
#include "app/engine/run/sweep_axes.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/progress_filter.h"
#include "app/engine/wire/checked.h"
#include "app/engine/wire/messages.h"
#include "app/engine/wire/wire.h"
#include "kernels/core/in_parallel.h"

namespace sawtooth {
namespace {

constexpr auto heartbeat = std::chrono::milliseconds(200);
constexpr int wrong_language = 2, broken = 3;  // exit codes

// Sends messages to the client, from any thread of the worker.
class Outbox {
  public:
    explicit Outbox(int descriptor) : descriptor_(descriptor) {}

    void send(const FromWorker& message) {
        std::string bytes = encode(message);
        if (bytes.size() > longest_message) bytes = encode(too_long(message, bytes.size()));
        const std::lock_guard lock(mutex_);
        if (write_all(descriptor_, framed(bytes, packs_)) != 0) std::_Exit(0);  // the client is gone
    }
    void pack() {
        const std::lock_guard lock(mutex_);
        packs_ = true;
    }

  private:
    static FromWorker too_long(const FromWorker& message, size_t bytes) {
        const JobNumber job = std::visit(
            [](const auto& held) {
                if constexpr (requires { held.job; }) return held.job;
                return JobNumber{0};
            },
            message);
        return Failed{job, Error::failure(fmt::format(
                               "the answer takes {} bytes, but only {} can be sent. Use a smaller shape "
                               "or fewer variants",
                               bytes, longest_message))};
    }

    std::mutex mutex_;
    int descriptor_;
    bool packs_ = false;
};

// The client's input file. It has no name, so nothing remains of it, however the worker ends. It is read
// through the name that the system gives to every open file.
class SentFile {
  public:
    void take(const FilePart& part) {
        if (part.first) begin();
        if (!problem_ && write_all(file_.number(), bytes_of(part)) != 0) fail();
    }
    const std::optional<Error>& problem() const { return problem_; }
    std::string path() const { return fmt::format("/proc/self/fd/{}", file_.number()); }

  private:
    static std::string_view bytes_of(const FilePart& part) {
        return {reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size()};
    }
    void begin() {
        problem_.reset();
        std::error_code ignored;
        std::string path = (std::filesystem::temp_directory_path(ignored) / "sawtooth-input-XXXXXX").string();
        file_ = Descriptor(::mkostemp(path.data(), O_CLOEXEC));
        if (file_)
            ::unlink(path.c_str());
        else
            fail();
    }
    void fail() {
        problem_ =
            Error::failure(fmt::format("the worker cannot store the input file: {}", std::strerror(errno)));
    }

    Descriptor file_;
    std::optional<Error> problem_;
};

struct Job {
    ToWorker message;
    std::stop_source stop;
};

// Runs jobs one after another on its own thread.
class Worker {
  public:
    Worker(const std::string& cache_directory, Outbox& out)
        : out_(out),
          source_(cache_directory),
          beating_([this](std::stop_token stop) { beat(stop); }),
          working_([this](std::stop_token stop) { work(stop); }) {}

    // Call before the first job.
    void greeted_by(const Hello& client) {
        if (client.packs) out_.pack();
        if (client.program == build_identity()) return;
        notes_.push_back(fmt::format("computed by a worker of another build, sawtooth {}; this is {}",
                                     build_identity(), client.program));
    }

    // Blocks if many messages are waiting, as parts of a file may arrive faster than they are written.
    void add(ToWorker message) {
        constexpr size_t most = 16;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return jobs_.size() < most; });
        jobs_.push_back({std::move(message), {}});
        changed_.notify_all();
    }

    void cancel(JobNumber number) {
        const std::lock_guard lock(mutex_);
        for (Job& job : jobs_)
            if (number_of(job.message) == number) job.stop.request_stop();
    }

    // Cancels everything and waits only briefly for it, because a hung kernel never ends.
    void leave() {
        constexpr auto patience = std::chrono::milliseconds(500);
        std::unique_lock lock(mutex_);
        for (Job& job : jobs_) job.stop.request_stop();
        changed_.wait_for(lock, patience, [&] { return jobs_.empty(); });
    }

  private:
    static JobNumber number_of(const ToWorker& message) {
        return std::visit(
            [](const auto& held) {
                if constexpr (requires { held.job; }) return held.job;
                return JobNumber{0};
            },
            message);
    }

    void beat(std::stop_token stop) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
            changed_.wait(lock, stop, [&] { return !jobs_.empty(); });
            changed_.wait_for(lock, stop, heartbeat, [] { return false; });
            if (jobs_.empty()) continue;
            lock.unlock();
            out_.send(Alive{});
            lock.lock();
        }
    }

    void work(std::stop_token stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) {
            Job& job = jobs_.front();  // the job stays at the front while it runs
            lock.unlock();
            const auto problem = guarded([&]() -> std::optional<Error> {
                std::visit([&](auto& message) { serve(message, job.stop.get_token()); }, job.message);
                return {};
            });
            if (problem) fail(number_of(job.message), *problem);
            lock.lock();
            jobs_.pop_front();
            changed_.notify_all();
        }
    }

    void serve(const FilePart& part, std::stop_token) { file_.take(part); }

    void serve(const RunJob& job, std::stop_token stop) {
        const auto request = prepared(job.request, job.sent_input);
        if (!request) return fail(job.job, request.error());
        ProgressFilter filter;
        const auto say = [&](const Progress& progress) {
            if (filter.passes(progress)) out_.send(Said{job.job, progress});
        };
        const auto show = [&](const Source::Seen& seen) {
            out_.send(Shown{job.job, as_asked(seen.result, job.request), seen.figures, seen.figures_ms});
        };
        const auto seen = source_.run(job.id, *request, job.view, stop,
                                      [&](const Progress& progress, const Source::Seen* partial) {
                                          partial ? show(*partial) : say(progress);
                                      });
        if (seen) return show(*seen);
        fail(job.job, in_own_words(seen.error(), job.request));
    }

    void serve(const CellJob& job, std::stop_token stop) {
        const auto request = prepared(job.sweep.base, job.sent_input);
        if (!request) return fail(job.job, request.error());
        if (const auto error = check_sweep(job.sweep)) return fail(job.job, *error);
        if (job.cell >= job.sweep.cells()) return fail(job.job, Error::usage("the sweep has no such cell"));
        Sweep sweep = job.sweep;
        sweep.base = *request;
        ProgressFilter filter;
        auto cell = source_.cell(sweep, job.cell, stop, [&](const Progress& progress, auto) {
            if (filter.passes(progress)) out_.send(Said{job.job, progress});
        });
        if (!cell) return fail(job.job, in_own_words(cell.error(), job.sweep.base));
        cell->refused = with_own_name(cell->refused, job.sweep.base);
        if (cell->result) cell->result = as_asked(cell->result, job.sweep.base);
        out_.send(CellDone{job.job, std::move(*cell)});
    }

    void serve(const CheckJob& job, std::stop_token stop) {
        const auto report = check(source_.cells(), job.request, stop, [&](const CheckReport& so_far) {
            out_.send(Checked{job.job, so_far});
        });
        if (!report) return fail(job.job, report.error());
        out_.send(Checked{job.job, *report});
    }

    void serve(const BenchJob& job, std::stop_token stop) {
        ProgressFilter filter;
        const auto report = source_.bench(job.families, job.base, stop, [&](const Progress& progress, auto) {
            if (filter.passes(progress)) out_.send(Said{job.job, progress});
        });
        if (!report) return fail(job.job, report.error());
        out_.send(BenchDone{job.job, *report});
        if (source_.is_broken()) std::_Exit(broken);
    }

    void serve(const LookJob& job, std::stop_token stop) {
        const auto figures = source_.look(job.id, job.view, job.figure_parameters, stop);
        if (!figures) return fail(job.job, figures.error());
        out_.send(FiguresMade{job.job, *figures});
    }

    void serve(const FetchJob& job, std::stop_token stop) {
        const auto result = source_.whole(job.id, stop);
        if (!result) return fail(job.job, result.error());
        const auto arrays = arrays_of(**result);
        const auto no_such_part = [&] { fail(job.job, Error::failure("the result has no such part")); };
        if (job.array >= arrays.size() || !arrays[job.array]->data) return no_such_part();
        const std::span<const uint8_t> bytes = arrays[job.array]->as<uint8_t>();
        if (job.offset > bytes.size()) return no_such_part();
        const auto part = bytes.subspan(job.offset, std::min(array_part_bytes, bytes.size() - job.offset));
        out_.send(ArrayPart{job.job, Bytes(part.begin(), part.end())});
    }

    void serve(const KeepResults& kept, std::stop_token) { source_.keep(kept.ids); }

    void serve(const DevicesJob& job, std::stop_token stop) {
        out_.send(Said{job.job, {0, "looking for GPUs"}});
        Devices found = find_devices();
        if (job.tries_counters) try_counters(found);
        if (job.measures_limits) {
            auto limits = measured_limits(source_.cells(), {}, !found.gpus.empty(), stop);
            if (!limits) return fail(job.job, limits.error());
            found.limits = std::move(*limits);
        }
        out_.send(DevicesFound{job.job, std::move(found)});
    }

    void serve(const Hello&, std::stop_token) {}      // handled before the first job
    void serve(const CancelJob&, std::stop_token) {}  // handled at once, out of order

    // Reports the error and, after a GPU error that makes every later call fail, exits: a new process must
    // continue.
    void fail(JobNumber job, Error error) {
        const bool ending = source_.is_broken();
        out_.send(Failed{job, std::move(error), ending});
        if (ending) std::_Exit(broken);
    }

    // The Request as it runs here: with the file that was sent, and without a time limit, because the client
    // applies that to its worker.
    Outcome<Request> prepared(Request request, bool sent_input) {
        if (sent_input) {
            if (file_.problem()) return *file_.problem();
            request.input = file_.path();
        }
        request.time_limit_seconds.reset();
        return request;
    }

    // Replaces the name of the file in the worker, which means nothing to the client, by the client's name.
    std::string with_own_name(std::string text, const Request& asked) const {
        const std::string name = file_.path();
        for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += asked.input.size())
            text.replace(at, name.size(), asked.input);
        return text;
    }

    Error in_own_words(Error error, const Request& asked) const {
        error.text = with_own_name(std::move(error.text), asked);
        return error;
    }

    // The client knows what it asked for; its notes are those of its file and of this build.
    std::shared_ptr<const Result> as_asked(const std::shared_ptr<const Result>& result,
                                           const Request& asked) const {
        if (asked.input.empty() && notes_.empty()) return result;
        auto own = std::make_shared<Result>(*result);
        for (std::string& note : own->notes) note = with_own_name(std::move(note), asked);
        own->notes.insert(own->notes.end(), notes_.begin(), notes_.end());
        return own;
    }

    Outbox& out_;
    LocalSource source_;
    SentFile file_;
    std::vector<std::string> notes_;  // added to every result

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Job> jobs_;
    std::jthread beating_, working_;  // declared last, so that they start when all other members exist
};

// Reads messages until the input ends. Returns the exit code.
int read_messages(int in, Worker& worker) {
    FrameReader frames;
    bool greeted = false;
    const auto refuse = [](const std::string& words) {
        constexpr size_t most = 300;  // the reason may quote the client
        fmt::print(stderr, "sawtooth worker: {}\n", printable(words).substr(0, most));
        return wrong_language;
    };
    std::vector<char> part(1 << 16);
    while (true) {
        const ssize_t count = ::read(in, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        frames.append({part.data(), static_cast<size_t>(count)});
        while (true) {
            const auto frame = frames.next();
            if (!frame) return refuse(frame.error().text);
            if (!*frame) break;
            auto message = decode_to_worker(**frame);
            if (!message) return refuse(message.error().text);
            if (const auto* hello = std::get_if<Hello>(&*message)) {
                if (const auto refusal = version_refusal(*hello)) return refuse(*refusal);
                if (!greeted) worker.greeted_by(*hello);
                greeted = true;
            } else if (!greeted) {
                return refuse("the first message is not a greeting");
            } else if (const auto* cancel = std::get_if<CancelJob>(&*message)) {
                worker.cancel(cancel->job);
            } else {
                worker.add(std::move(*message));
            }
        }
    }
}

// Moves a standard stream to another descriptor, so that no print reaches it, and puts `instead` in its
// place.
Descriptor set_aside(int standard, int instead) {
    Descriptor aside(::fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    ::dup2(instead, standard);
    return aside;
}

// A terminal, which srun --unbuffered gives as output, must not change line ends.
void pass_all_bytes(int output) {
    termios settings;
    if (::tcgetattr(output, &settings) != 0) return;  // no terminal
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(output, TCSANOW, &settings);
}

}  // namespace

void serve_worker(const std::string& cache_directory) {
    const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const Descriptor in = set_aside(STDIN_FILENO, nothing.number());
    const Descriptor out = set_aside(STDOUT_FILENO, STDERR_FILENO);
    pass_all_bytes(out.number());
    Outbox outbox(out.number());
    // The devices of the greeting, without GPUs: a driver that hangs must not keep CPU work waiting.
    outbox.send(hello_from(cpu_words(core_count())));
    Worker worker(cache_directory, outbox);
    const int code = read_messages(in.number(), worker);
    worker.leave();
    std::_Exit(code);  // skips destructors, which could wait for a hung kernel
}

}  // namespace sawtooth

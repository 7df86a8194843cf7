#include "app/engine/sources/worker_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/engine/files/descriptor.h"

namespace sawtooth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int look_up_ms = 10;  // a stop or a timeout is noticed within this time
// A local worker starts within a fraction of a second. A remote one may wait in a queue, as long as the time
// limit allows.
constexpr double seconds_to_start = 30;
constexpr double seconds_to_greet = 10;  // counted from the first byte
constexpr size_t longest_greeting = 1 << 16;
// Time for a worker that closed its output to exit: its exit status tells why.
constexpr double seconds_to_die = 0.2;

// Describes a run for error messages: "scan: length 8192, op sum".
std::string described(const Request& request) {
    std::string text = request.family;
    const char* separator = ": ";
    for (const auto& [name, value] : request.parameters.values) {
        text += separator + name + " " + to_text(value);
        separator = ", ";
    }
    return text;
}

// The first bytes of an output that is no message, made readable for an error.
std::string quoted(std::string_view bytes) {
    std::string text(bytes.substr(0, 60));
    for (char& c : text)
        if (c < 0x20 || c > 0x7E) c = '.';
    return "\"" + text + "\"";
}

JobNumber job_of(const FromWorker& message) {
    return std::visit(
        [](const auto& held) {
            if constexpr (requires { held.job; }) return held.job;
            return JobNumber{0};
        },
        message);
}

}  // namespace

std::optional<Error> WorkerLink::Job::prepare() {
    if (auto error = find_worker()) return error;
    if (auto error = greet()) return error;
    patience_.began(Clock::now());
    return send_file();
}

void WorkerLink::Job::give(const ToWorker& message) {
    runs_ = true;
    worker().send(message);
}

Outcome<FromWorker> WorkerLink::Job::answer() {
    while (true) {
        const auto frame = worker().frames.next();
        if (!frame) return garbled(frame.error().text);
        if (!*frame) {
            if (auto error = wait()) return *error;
            continue;
        }
        auto message = decode_from_worker(**frame);
        if (!message) return garbled(message.error().text);
        // Skips signs of life and late answers to a cancelled job.
        if (job_of(*message) != number) continue;
        if (const auto* said = std::get_if<Said>(&*message))
            take(said->progress);
        else
            return message;
    }
}

Error WorkerLink::Job::failure(const Failed& failed) {
    Error error = failed.error;
    if (error.text.empty()) error.text = "the worker gave no reason";
    if (error.kind == Error::Kind::cancelled && !stop_.stop_requested())
        error = Error::failure("the worker cancelled the run by itself");
    if (!failed.ending) return error;
    link_.worker_->process.end(WorkerConnection::seconds_to_leave);
    return given_up(error.text, Fault::job);
}

Error WorkerLink::Job::garbled(const std::string& reason) {
    return given_up("invalid answer from the worker: " + reason + other_build(*worker().greeting),
                    Fault::worker);
}

std::optional<Error> WorkerLink::Job::find_worker() {
    if (link_.worker_ && link_.worker_->on != request_.on) {
        link_.worker_->leave();
        link_.worker_.reset();
    }
    if (link_.worker_) {
        if (worker().catch_up() != WorkerConnection::Moved::ended) return {};
        link_.worker_.reset();  // it exited before this job: a new one says why if it cannot start either
    }
    link_.results_ = ResultStore();
    auto started = WorkerConnection::start(request_.on, link_.cache_directory_);
    if (!started) return started.error();
    link_.worker_ = std::move(*started);
    return {};
}

std::optional<double> WorkerLink::Job::seconds_to_answer() const {
    return request_.on.empty() ? std::optional(seconds_to_start) : request_.time_limit_seconds;
}

std::optional<Error> WorkerLink::Job::greet() {
    const auto started = Clock::now();
    std::optional<Clock::time_point> first_byte;
    const auto passed = [](Clock::time_point since, double seconds) {
        return Clock::now() - since > std::chrono::duration<double>(seconds);
    };
    if (!worker().greeting) tell({0, "starting the worker"});
    while (!worker().greeting) {
        const auto frame = worker().frames.next();
        if (!frame) return no_worker("its output starts with " + quoted(worker().frames.held()));
        if (*frame) {
            const auto message = decode_from_worker(**frame);
            const auto* hello = message ? std::get_if<Hello>(&*message) : nullptr;
            if (!hello)
                return no_worker((message ? "" : message.error().text + "; ") + "its output starts with " +
                                 quoted(**frame));
            if (const auto refusal = version_refusal(*hello)) return no_worker(*refusal);
            worker().greeting = *hello;
            tell({0, "worker on " + hello->device});
            break;
        }
        if (stop_.stop_requested()) return cancelled();
        if (worker().exchange(look_up_ms) == WorkerConnection::Moved::ended) return not_started();
        const std::string_view said = worker().frames.held();
        if (!said.empty() && !first_byte) first_byte = Clock::now();
        if (said.size() > longest_greeting) return no_worker("its output starts with " + quoted(said));
        if (first_byte && passed(*first_byte, seconds_to_greet))
            return no_worker(
                fmt::format("its output starts with {}, and no greeting follows within {:g} s; a "
                            "launcher must not hold back output (srun: add --unbuffered)",
                            quoted(said), seconds_to_greet));
        if (const auto seconds = seconds_to_answer(); seconds && passed(started, *seconds))
            return no_worker(fmt::format("it did not answer within {:g} s{}", *seconds,
                                         request_.on.empty() ? "" : "; raise the time limit if it waits"));
    }
    return {};
}

std::optional<Error> WorkerLink::Job::send_file() {
    if (!sends_input()) return {};
    const FileStamp stamp = stamp_of(request_.input);
    if (worker().sent_file == stamp) return {};
    const Descriptor file(::open(request_.input.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    const auto unreadable = [&](const char* why) {
        return Error::usage(fmt::format("{}: cannot be read: {}", request_.input, why));
    };
    struct stat status = {};
    if (!file || ::fstat(file.number(), &status) != 0) return unreadable(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return unreadable("not a regular file");
    worker().sent_file = {};
    int64_t sent = 0;
    while (sent < std::max<int64_t>(1, stamp.size)) {
        FilePart part{sent == 0, Bytes(file_part_bytes)};
        const ssize_t count = ::read(file.number(), part.bytes.data(), part.bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return unreadable(std::strerror(errno));
        part.bytes.resize(static_cast<size_t>(count));
        worker().send(part);
        while (!worker().all_is_sent())
            if (auto error = wait()) return error;
        patience_.began(Clock::now());  // the limit is for the job, which waits for its file
        if (count == 0) break;
        sent += count;
        tell({0, fmt::format("sending {}: {} of {} MiB", request_.input, sent >> 20, stamp.size >> 20)});
    }
    worker().sent_file = stamp;
    return {};
}

std::optional<Error> WorkerLink::Job::wait() {
    if (stop_.stop_requested()) {
        if (link_.leaves_ || !runs_) return cancelled();
        if (!patience_.cancelled()) {
            worker().send(CancelJob{number});
            patience_.was_cancelled(Clock::now());
        }
    }
    const WorkerConnection::Moved moved = worker().exchange(look_up_ms);
    if (moved == WorkerConnection::Moved::ended) return died();
    if (moved == WorkerConnection::Moved::something) patience_.heard(Clock::now());
    const auto now = Clock::now();
    if (const auto reason = patience_.spent(now))
        return given_up(*reason, patience_.is_silent(now) ? Fault::worker : Fault::job);
    return {};
}

void WorkerLink::Job::take(Progress progress) {
    const auto now = Clock::now();
    patience_.said(progress, now);
    progress.deadline = patience_.deadline(now);
    tell(progress);
}

void WorkerLink::Job::tell(const Progress& progress) {
    if (news_) news_(progress, nullptr);
}

Error WorkerLink::Job::cancelled() {
    if (link_.leaves_) {
        worker().leave();
        link_.worker_.reset();
    }
    return Error::cancelled();
}

Error WorkerLink::Job::died() {
    const std::string how = worker().process.end(seconds_to_die);
    link_.loss_ = "the worker exited" + (how.empty() ? "" : ", " + how) + last_words();
    return lost(*link_.loss_, "the next run starts a new one");
}

Error WorkerLink::Job::given_up(const std::string& reason, Fault fault) {
    if (fault == Fault::worker) link_.loss_ = reason;
    return lost(reason, "its worker was stopped; the next run starts a new one");
}

Error WorkerLink::Job::lost(const std::string& reason, const char* consequence) {
    link_.worker_.reset();
    link_.was_ended_ = true;
    const auto kind = patience_.cancelled() ? Error::Kind::cancelled : Error::Kind::failure;
    if (request_.family.empty()) return {kind, reason};
    return {kind, fmt::format("{} ({}); {}", reason, described(request_), consequence)};
}

Error WorkerLink::Job::not_started() {
    const std::string how = worker().process.end(seconds_to_die);
    return no_worker((how.empty() ? "it closed its output" : "it exited, " + how) + last_words());
}

std::string WorkerLink::Job::last_words() {
    const std::string& last = worker().process.last_errors();
    return last.empty() ? "" : fmt::format(", with the message \"{}\"", last);
}

Error WorkerLink::Job::no_worker(const std::string& reason) {
    link_.worker_.reset();
    return Error::failure(fmt::format("could not start a worker with {}: {}",
                                      request_.on.empty() ? "this program" : "--on \"" + request_.on + "\"",
                                      reason));
}

}  // namespace sawtooth

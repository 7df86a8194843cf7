#include "app/engine/sources/worker_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "app/engine/check/resume.h"
#include "app/engine/files/descriptor.h"
#include "app/engine/machine/memory.h"
#include "app/engine/sources/worker_connection.h"
#include "app/engine/sources/worker_patience.h"
#include "app/engine/wire/checked.h"
#include "app/engine/wire/messages.h"
#include "kernels/core/integers.h"

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

Error result_is_gone() { return Error::failure("the worker that has this result is gone; run it again"); }

// A Request for a job on an existing result; it gives the description and the time limit, without the input
// file.
Request request_for(const Result& result) {
    Request request = result.request;
    request.input.clear();
    return request;
}

}  // namespace

// One job: gives it to a worker and waits for its answers. After an error the worker is either usable or has
// ended.
class WorkerLink::Job {
  public:
    Job(WorkerLink& link, const Request& request, std::stop_token stop, Source::OnNews news)
        : number(++link.jobs_),
          link_(link),
          request_(request),
          stop_(std::move(stop)),
          news_(std::move(news)),
          patience_(request.time_limit_seconds, link.counts_, Clock::now()) {}

    const JobNumber number;

    // Provides a greeted worker that has the input file. Errors: cancelled, usage (the file), failure.
    std::optional<Error> prepare() {
        if (auto error = find_worker()) return error;
        if (auto error = greet()) return error;
        patience_.began(Clock::now());
        return send_file();
    }
    bool sends_input() const { return !request_.on.empty() && !request_.input.empty(); }

    void give(const ToWorker& message) {
        runs_ = true;
        worker().send(message);
    }

    // The next answer other than progress.
    Outcome<FromWorker> answer() {
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

    // The error of a Failed message. A worker that cannot continue is dropped.
    Error failure(const Failed& failed) {
        Error error = failed.error;
        if (error.text.empty()) error.text = "the worker gave no reason";
        if (error.kind == Error::Kind::cancelled && !stop_.stop_requested())
            error = Error::failure("the worker cancelled the run by itself");
        if (!failed.ending) return error;
        link_.worker_->process.end(WorkerConnection::seconds_to_leave);
        return given_up(error.text);
    }

    // The error for an answer that does not fit the job.
    Error garbled(const std::string& reason) {
        return given_up("invalid answer from the worker: " + reason + other_build(*worker().greeting));
    }

  private:
    WorkerConnection& worker() { return *link_.worker_; }

    // Keeps the worker if it was started by the same command and is alive; starts a new one otherwise.
    std::optional<Error> find_worker() {
        if (link_.worker_ && link_.worker_->on != request_.on) {
            link_.worker_->leave();
            link_.worker_.reset();
        }
        if (link_.worker_) {
            const bool ended = worker().catch_up() == WorkerConnection::Moved::ended;
            // If there was no greeting, `greet` reports the reason.
            if (!ended || !worker().greeting) return {};
            link_.worker_.reset();
        }
        link_.results_ = ResultStore();
        auto started = WorkerConnection::start(request_.on, link_.cache_directory_);
        if (!started) return started.error();
        link_.worker_ = std::move(*started);
        return {};
    }

    // The seconds that the worker has for its greeting; nullopt: as long as the user waits.
    std::optional<double> seconds_to_answer() const {
        return request_.on.empty() ? std::optional(seconds_to_start) : request_.time_limit_seconds;
    }

    std::optional<Error> greet() {
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
                    return no_worker((message ? "" : message.error().text + "; ") +
                                     "its output starts with " + quoted(**frame));
                if (const auto refusal = version_refusal(*hello)) return no_worker(*refusal);
                worker().greeting = *hello;
                tell({0, "worker on " + hello->device});
                break;
            }
            if (stop_.stop_requested()) return cancelled();
            if (worker().exchange(look_up_ms) == WorkerConnection::Moved::ended) return not_started();
            const std::string_view said = worker().frames.held();
            if (!said.empty() && !first_byte) first_byte = Clock::now();
            if (said.size() > longest_greeting || (first_byte && passed(*first_byte, seconds_to_greet)))
                return no_worker("its output starts with " + quoted(said));
            if (const auto seconds = seconds_to_answer(); seconds && passed(started, *seconds))
                return no_worker(
                    fmt::format("it did not answer within {:g} s{}", *seconds,
                                request_.on.empty() ? "" : "; raise the time limit if it waits"));
        }
        return {};
    }

    std::optional<Error> send_file() {
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
            if (count == 0) break;
            sent += count;
            tell({0, fmt::format("sending {}: {} of {} MiB", request_.input, sent >> 20, stamp.size >> 20)});
        }
        worker().sent_file = stamp;
        return {};
    }

    // Waits a short time for the worker. Errors: cancelled, or the worker was stopped.
    std::optional<Error> wait() {
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
        if (const auto reason = patience_.spent(Clock::now())) return given_up(*reason);
        return {};
    }

    void take(Progress progress) {
        const auto now = Clock::now();
        patience_.said(progress, now);
        progress.deadline = patience_.deadline(now);
        tell(progress);
    }
    void tell(const Progress& progress) {
        if (news_) news_(progress, nullptr);
    }

    // A worker that has not received the job yet is kept.
    Error cancelled() {
        if (link_.leaves_) {
            worker().leave();
            link_.worker_.reset();
        }
        return Error::cancelled();
    }

    Error died() {
        const std::string how = worker().process.end(seconds_to_die);
        return lost("the worker exited" + (how.empty() ? "" : ", " + how) + last_words(),
                    "the next run starts a new one");
    }

    // Stops the worker and says what it was doing.
    Error given_up(const std::string& reason) {
        return lost(reason, "its worker was stopped; the next run starts a new one");
    }

    Error lost(const std::string& reason, const char* consequence) {
        link_.worker_.reset();
        link_.was_ended_ = true;
        const auto kind = patience_.cancelled() ? Error::Kind::cancelled : Error::Kind::failure;
        if (request_.family.empty()) return {kind, reason};
        return {kind, fmt::format("{} ({}); {}", reason, described(request_), consequence)};
    }

    Error not_started() {
        const std::string how = worker().process.end(seconds_to_die);
        return no_worker((how.empty() ? "it closed its output" : "it exited, " + how) + last_words());
    }

    std::string last_words() {
        const std::string& last = worker().process.last_errors();
        return last.empty() ? "" : fmt::format(", with the message \"{}\"", last);
    }

    Error no_worker(const std::string& reason) {
        link_.worker_.reset();
        return Error::failure(
            fmt::format("could not start a worker with {}: {}",
                        request_.on.empty() ? "this program" : "--on \"" + request_.on + "\"", reason));
    }

    WorkerLink& link_;
    const Request& request_;
    std::stop_token stop_;
    Source::OnNews news_;
    WorkerPatience patience_;
    bool runs_ = false;  // whether the worker received the job
};

WorkerLink::WorkerLink(std::string cache_directory, Counts counts)
    : cache_directory_(std::move(cache_directory)), counts_(counts) {}

WorkerLink::~WorkerLink() {
    if (worker_) worker_->leave();
}

void WorkerLink::finish(double seconds) {
    if (worker_) worker_->process.end(seconds);
    worker_.reset();
}

Outcome<Source::Seen> WorkerLink::run(ResultId id, const Request& request, const std::optional<View>& view,
                                      std::stop_token stop, const Source::OnNews& news) {
    Job job(*this, request, std::move(stop), news);
    if (auto error = job.prepare()) return *error;
    job.give(RunJob{job.number, id, request, job.sends_input(), view});
    while (true) {
        const auto answer = job.answer();
        if (!answer) return answer.error();
        if (const auto* failed = std::get_if<Failed>(&*answer)) return job.failure(*failed);
        const auto* shown = std::get_if<Shown>(&*answer);
        if (!shown || !shown->result || !shown->figures) return job.garbled("no result");
        const auto result = checked_result(*shown->result, request);
        if (!result) return job.garbled(result.error().text);
        if (!std::isfinite(shown->figures_ms) || shown->figures_ms < 0)
            return job.garbled("figures that took no time");
        results_.add(id, *result);
        const Source::Seen seen{*result, shown->figures, shown->figures_ms};
        if (seen.result->complete) return seen;
        if (news) news({}, &seen);
    }
}

Outcome<SweepCell> WorkerLink::cell(const Sweep& sweep, size_t index, std::stop_token stop) {
    const Request request = sweep.request(index);
    SweepCell refused{sweep.cell(index), "", nullptr};
    Job job(*this, request, std::move(stop), {});
    if (auto error = job.prepare()) return *error;
    job.give(CellJob{job.number, sweep, job.sends_input(), index});
    const auto answer = job.answer();
    Error error;
    if (!answer) {
        error = answer.error();
    } else if (const auto* done = std::get_if<CellDone>(&*answer)) {
        auto checked = checked_cell(done->cell, sweep, index);
        if (checked) return checked;
        error = job.garbled(checked.error().text);
    } else if (const auto* failed = std::get_if<Failed>(&*answer)) {
        error = job.failure(*failed);
    } else {
        error = job.garbled("no cell");
    }
    if (error.kind != Error::Kind::failure) return error;
    refused.refused = error.text;
    return refused;
}

// Checks in one worker and adds its findings to `so_far`.
Outcome<CheckReport> WorkerLink::check_part(const CheckRequest& request, const std::stop_token& stop,
                                            CheckReport& so_far, const OnCheck& news) {
    Job job(*this, request.base, stop, {});
    if (auto error = job.prepare()) return *error;
    job.give(CheckJob{job.number, request});
    const CheckReport before = so_far;
    while (true) {
        const auto answer = job.answer();
        if (!answer) return answer.error();
        if (const auto* failed = std::get_if<Failed>(&*answer)) return job.failure(*failed);
        const auto* checked = std::get_if<Checked>(&*answer);
        if (!checked) return job.garbled("no report");
        const auto report = checked_report(checked->report, request);
        if (!report) return job.garbled(report.error().text);
        so_far = joined(before, *report);
        if (so_far.complete) return so_far;
        if (news) news(so_far);
    }
}

Outcome<CheckReport> WorkerLink::check(const CheckRequest& request, std::stop_token stop,
                                       const OnCheck& news) {
    CheckRequest rest = request;
    CheckReport so_far;
    while (true) {
        so_far.trying.reset();
        const size_t found = so_far.findings.size();
        const auto report = check_part(rest, stop, so_far, news);
        if (report || report.error().kind != Error::Kind::failure || !so_far.trying) return report;
        if (request.only_first && so_far.findings.size() > found) return so_far;
        if (so_far.findings.size() == found) {  // the worker ended before it could report a finding
            so_far.findings.push_back(lost_with_worker(so_far, report.error()));
            ++so_far.tried;
        }
        rest = continued(request, so_far);
    }
}

Outcome<BenchReport> WorkerLink::bench(const std::vector<std::string>& families, const Request& base,
                                       std::stop_token stop, const OnProgress& progress) {
    Request unlimited = base;  // the limit is for each case, in the worker
    unlimited.time_limit_seconds.reset();
    Job job(*this, unlimited, std::move(stop), [&](const Progress& now, auto) {
        if (progress) progress(now, nullptr);
    });
    if (auto error = job.prepare()) return *error;
    job.give(BenchJob{job.number, families, base});
    const auto answer = job.answer();
    if (!answer) return answer.error();
    if (const auto* failed = std::get_if<Failed>(&*answer)) return job.failure(*failed);
    const auto* done = std::get_if<BenchDone>(&*answer);
    if (!done) return job.garbled("no bench");
    const auto report = checked_bench(done->report);
    if (!report) return job.garbled(report.error().text);
    return report;
}

// Null if it is not that of this worker.
std::shared_ptr<const Result> WorkerLink::result_of(ResultId id) const {
    const auto result = results_.find(id);
    return result && worker_ && worker_->on == result->request.on ? result : nullptr;
}

Outcome<Figures> WorkerLink::look(ResultId id, const View& view, const Parameters& figure_parameters,
                                  std::stop_token stop) {
    const auto result = result_of(id);
    if (!result) return result_is_gone();
    const Request request = request_for(*result);
    Job job(*this, request, std::move(stop), {});
    if (auto error = job.prepare()) return *error;
    job.give(LookJob{job.number, id, view, figure_parameters});
    const auto answer = job.answer();
    if (!answer) return answer.error();
    if (const auto* failed = std::get_if<Failed>(&*answer)) return job.failure(*failed);
    const auto* made = std::get_if<FiguresMade>(&*answer);
    if (!made || !made->figures) return job.garbled("no figures");
    return made->figures;
}

void WorkerLink::keep(const std::vector<ResultId>& ids) {
    results_.keep(ids);
    if (worker_) worker_->send(KeepResults{ids});
}

Outcome<Bytes> WorkerLink::fetch_part(ResultId id, const Request& request, uint64_t array, uint64_t offset,
                                      size_t bytes, std::stop_token stop) {
    Job job(*this, request, std::move(stop), {});
    if (auto error = job.prepare()) return *error;
    job.give(FetchJob{job.number, id, array, offset});
    auto answer = job.answer();
    if (!answer) return answer.error();
    if (const auto* failed = std::get_if<Failed>(&*answer)) return job.failure(*failed);
    auto* part = std::get_if<ArrayPart>(&*answer);
    if (!part || part->bytes.size() != bytes) return job.garbled("no part of an array");
    return std::move(part->bytes);
}

Outcome<std::shared_ptr<const Result>> WorkerLink::fetch_arrays(ResultId id, std::stop_token stop) {
    const auto result = result_of(id);
    if (!result) return result_is_gone();
    auto whole = std::make_shared<Result>(*result);
    const std::vector<Array*> arrays = arrays_of(*whole);
    int64_t all_bytes = 0;  // each shape is possible, as checked_result ensures
    for (const Array* array : arrays) all_bytes = saturating_add(all_bytes, array->bytes());
    if (auto error = check_memory(all_bytes, result->request.memory_limit_bytes)) return *error;
    const Request request = request_for(*result);
    for (size_t a = 0; a < arrays.size(); ++a) {
        arrays[a]->data = allocate(arrays[a]->bytes());
        const std::span<std::byte> data = arrays[a]->as<std::byte>();
        for (size_t offset = 0; offset < data.size();) {
            if (!result_of(id)) return result_is_gone();
            const size_t bytes = std::min(data.size() - offset, array_part_bytes);
            const auto part = fetch_part(id, request, a, offset, bytes, stop);
            if (!part) return part.error();
            std::memcpy(data.data() + offset, part->data(), bytes);
            offset += bytes;
        }
    }
    return std::shared_ptr<const Result>(std::move(whole));
}

Outcome<Devices> WorkerLink::devices(const DevicesJob& asked, const std::string& on,
                                     std::optional<double> seconds, std::stop_token stop) {
    Request request;
    request.on = on;
    request.time_limit_seconds = seconds;
    Job job(*this, request, std::move(stop), {});
    if (auto error = job.prepare()) return *error;
    DevicesJob own = asked;
    own.job = job.number;
    job.give(own);
    auto answer = job.answer();
    if (!answer)
        return Error{answer.error().kind, answer.error().text + "; check the driver with nvidia-smi"};
    if (const auto* failed = std::get_if<Failed>(&*answer)) return job.failure(*failed);
    auto* found = std::get_if<DevicesFound>(&*answer);
    if (!found) return job.garbled("no devices");
    return std::move(found->devices);
}

void WorkerLink::warm_up(const Request& request) {
    if (worker_ || leaves_ || !std::exchange(was_ended_, false)) return;
    // If the worker cannot be started, the next job reports the reason.
    if (auto started = WorkerConnection::start(request.on, cache_directory_)) worker_ = std::move(*started);
}

}  // namespace sawtooth

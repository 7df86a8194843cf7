#include "app/engine/sources/worker_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "app/engine/check/resume.h"
#include "app/engine/machine/memory.h"
#include "app/engine/sources/worker_job.h"
#include "app/engine/wire/checked.h"
#include "app/engine/wire/messages.h"
#include "kernels/core/integers.h"

namespace sawtooth {
namespace {

Error result_is_gone() { return Error::failure("the worker that has this result is gone; run it again"); }

// A Request for a job on an existing result; it gives the description and the time limit, without the input
// file.
Request request_for(const Result& result) {
    Request request = result.request;
    request.input.clear();
    return request;
}

}  // namespace

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

std::optional<Error> WorkerLink::connect(const Request& request, std::stop_token stop) {
    Job job(*this, request, std::move(stop), {});
    return job.prepare();
}

void WorkerLink::warm_up(const Request& request) {
    if (worker_ || leaves_ || !std::exchange(was_ended_, false)) return;
    // If the worker cannot be started, the next job reports the reason.
    if (auto started = WorkerConnection::start(request.on, cache_directory_)) worker_ = std::move(*started);
}

}  // namespace sawtooth

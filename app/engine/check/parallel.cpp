#include "app/engine/check/parallel.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "app/engine/worker_link.h"

namespace sawtooth {
namespace {

constexpr int64_t most_workers = 16;

// A CPU runs kernels on all its cores; the machine of a remote worker is not known.
int64_t workers_for(const Request& base) {
    if (base.backend == BackendChoice::cpu || !base.on.empty()) return 1;
    return std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, most_workers);
}

// The reports of all parts so far as one. Of a variant that several found wrong, the first finding stays.
CheckReport together(const std::vector<CheckReport>& parts) {
    CheckReport all;
    for (const CheckReport& part : parts) {
        if (part.family.empty()) continue;
        all.family = part.family;
        all.device = part.device;
        all.size = part.size;
        all.tried += part.tried;
        all.judged += part.judged;
        all.cannot_judge += part.cannot_judge;
        all.given_up += part.given_up;
        all.seconds = std::max(all.seconds, part.seconds);
        if (part.trying) all.trying = part.trying;
        all.findings.insert(all.findings.end(), part.findings.begin(), part.findings.end());
    }
    std::stable_sort(all.findings.begin(), all.findings.end(),
                     [](const Finding& left, const Finding& right) { return left.seconds < right.seconds; });
    std::vector<Finding> first;
    for (Finding& finding : all.findings)
        if (std::none_of(first.begin(), first.end(),
                         [&](const Finding& earlier) { return earlier.variant == finding.variant; }))
            first.push_back(std::move(finding));
    all.findings = std::move(first);
    return all;
}

}  // namespace

Outcome<CheckReport> check_in_workers(const std::string& cache_directory, const CheckRequest& request,
                                      std::stop_token stop, const OnCheck& news) {
    const int64_t count = workers_for(request.base);
    std::mutex mutex;
    std::vector<CheckReport> parts(static_cast<size_t>(count));
    std::optional<Error> problem;
    std::stop_source stop_all;
    const std::stop_callback forward(stop, [&] { stop_all.request_stop(); });
    const auto work = [&](int64_t part) {
        WorkerLink link(cache_directory);
        link.leave_when_stopped();
        CheckRequest own = request;
        own.part = part;
        own.parts = count;
        const auto report = link.check(own, stop_all.get_token(), [&](const CheckReport& so_far) {
            const std::lock_guard lock(mutex);
            parts[static_cast<size_t>(part)] = so_far;
            if (news) news(together(parts));
            if (request.only_first && !so_far.findings.empty()) stop_all.request_stop();
        });
        const std::lock_guard lock(mutex);
        if (report) parts[static_cast<size_t>(part)] = *report;
        const bool is_over = report && request.only_first && !report->findings.empty();
        if (!report && !problem && !stop_all.stop_requested()) problem = report.error();
        if (problem || is_over) stop_all.request_stop();
    };
    {
        std::vector<std::jthread> threads;
        for (int64_t part = 0; part < count; ++part) threads.emplace_back(work, part);
    }
    if (problem) return *problem;
    if (stop.stop_requested()) return Error::cancelled();
    CheckReport all = together(parts);
    all.complete = true;
    all.trying.reset();
    return all;
}

}  // namespace sawtooth

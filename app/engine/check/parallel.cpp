#include "app/engine/check/parallel.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "app/engine/wire/worker_link.h"

namespace sawtooth {
namespace {

// A GPU gives processes turns of milliseconds, so with more processes each one waits longer.
constexpr int64_t most_workers = 4;

// On a CPU kernels use all cores; the machine of a remote worker is unknown.
int64_t workers_for(const Request& base) {
    if (base.backend == BackendChoice::cpu || !base.on.empty()) return 1;
    return std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, most_workers);
}

// Combines the reports of all workers so far into one. If several found the same variant wrong, the first
// finding stays.
CheckReport together(const std::vector<CheckReport>& reports) {
    CheckReport all;
    for (const CheckReport& report : reports) {
        if (report.family.empty()) continue;
        all.family = report.family;
        all.device = report.device;
        all.size = report.size;
        all.tried += report.tried;
        all.judged += report.judged;
        all.cannot_judge += report.cannot_judge;
        all.given_up += report.given_up;
        all.seconds = std::max(all.seconds, report.seconds);
        if (report.trying) all.trying = report.trying;
        all.findings.insert(all.findings.end(), report.findings.begin(), report.findings.end());
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

// The state of one family, shared by all workers.
struct Shared {
    CheckRequest request;
    std::vector<CheckReport> reports;  // by worker
    int64_t left = 0;                  // reports that are not complete
    std::stop_source stop;
    CheckReport report;  // the combined report, once all are complete
};

class ParallelCheck {
  public:
    ParallelCheck(const std::string& cache_directory, const std::vector<CheckRequest>& requests,
                  std::stop_token stop, const OnCheck& news)
        : cache_directory_(cache_directory),
          workers_(workers_for(requests.front().base)),
          stop_(std::move(stop)),
          news_(news) {
        for (const CheckRequest& request : requests) {
            CheckRequest own = request;
            own.parts = workers_;
            families_.push_back(
                {own, std::vector<CheckReport>(static_cast<size_t>(workers_)), workers_, {}, {}});
        }
    }

    Outcome<std::vector<CheckReport>> run() {
        const std::stop_callback forward(stop_, [this] { stop_all(); });
        {
            std::vector<std::jthread> threads;
            for (int64_t part = 0; part < workers_; ++part)
                threads.emplace_back([this, part] { work(part); });
        }
        if (problem_) return *problem_;
        if (stop_.stop_requested()) return Error::cancelled();
        std::vector<CheckReport> reports;
        for (Shared& family : families_) reports.push_back(std::move(family.report));
        return reports;
    }

  private:
    void stop_all() {
        for (Shared& family : families_) family.stop.request_stop();
    }

    void work(int64_t part) {
        WorkerLink link(cache_directory_);
        link.leave_when_stopped();
        for (Shared& family : families_) take(link, family, part);
    }

    void take(WorkerLink& link, Shared& family, int64_t part) {
        CheckReport& own = family.reports[static_cast<size_t>(part)];
        CheckRequest request = family.request;
        request.part = part;
        const auto has_enough = [&] { return request.only_first && !own.findings.empty(); };
        const auto report = link.check(request, family.stop.get_token(), [&](const CheckReport& so_far) {
            const std::lock_guard lock(mutex_);
            own = so_far;
            if (news_) news_(together(family.reports));
            if (has_enough()) family.stop.request_stop();
        });
        const std::lock_guard lock(mutex_);
        if (report) own = *report;
        if (has_enough()) family.stop.request_stop();
        if (!report && !problem_ && !family.stop.stop_requested()) problem_ = report.error();
        if (problem_) return stop_all();
        if (--family.left > 0 || stop_.stop_requested()) return;
        family.report = together(family.reports);
        family.report.complete = true;
        family.report.trying.reset();
        if (news_) news_(family.report);
    }

    const std::string cache_directory_;
    const int64_t workers_;
    const std::stop_token stop_;
    const OnCheck& news_;
    std::vector<Shared> families_;
    std::mutex mutex_;
    std::optional<Error> problem_;
};

}  // namespace

Outcome<std::vector<CheckReport>> check_in_workers(const std::string& cache_directory,
                                                   const std::vector<CheckRequest>& requests,
                                                   std::stop_token stop, const OnCheck& news) {
    return ParallelCheck(cache_directory, requests, std::move(stop), news).run();
}

}  // namespace sawtooth

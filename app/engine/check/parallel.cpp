#include "app/engine/check/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "app/engine/check/resume.h"
#include "app/engine/sources/worker_team.h"
#include "kernels/core/in_parallel.h"

namespace sawtooth {
namespace {

// A GPU gives processes turns of milliseconds, so with more processes each one waits longer.
constexpr size_t most_workers = 4;

// On a CPU kernels use all cores; the machine of a remote worker is unknown.
std::vector<std::string> usual_commands(const Request& base) {
    if (base.backend == BackendChoice::cpu || !base.on.empty()) return {base.on};
    return std::vector<std::string>(std::min(static_cast<size_t>(core_count()), most_workers));
}

// Combines the reports of all workers so far into one. If several found the same variant wrong, the first
// finding stays.
CheckReport together(const std::vector<CheckReport>& reports) {
    CheckReport all;
    for (const CheckReport& report : reports) {
        if (report.family.empty()) continue;
        all.family = report.family;
        if (all.device.find(report.device) == std::string::npos)
            all.device += (all.device.empty() ? "" : "; ") + report.device;
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
    std::vector<CheckReport> reports;  // by part
    int64_t left = 0;                  // parts that are not finished
    std::stop_source stop;
    CheckReport report;  // the combined report, once all parts are finished
};

class ParallelCheck {
  public:
    ParallelCheck(const std::vector<CheckRequest>& requests, std::vector<std::string> commands,
                  const OnCheck& news)
        : news_(news), parts_(commands.size()) {
        task_.commands = std::move(commands);
        task_.base = requests.front().base;
        task_.parts = requests.size() * parts_;
        task_.part_name = "part of the check";
        task_.work = [this](WorkerSource& source, const std::string& on, size_t part,
                            const std::stop_token& stop) { return work(source.cells(), on, part, stop); };
        task_.finished = [this](size_t part) { finish(families_[part / parts_]); };
        const auto count = static_cast<int64_t>(parts_);
        for (const CheckRequest& request : requests) {
            CheckRequest own = request;
            own.parts = count;
            families_.push_back({own, std::vector<CheckReport>(parts_), count, {}, {}});
        }
    }

    Outcome<std::vector<CheckReport>> run(const std::string& cache_directory, const std::stop_token& stop,
                                          const std::function<void(const std::string&)>& told) {
        told_ = told;
        task_.told = [this](const std::string& line) {
            const std::lock_guard lock(mutex_);
            tell(line);
        };
        if (auto error = run_team(task_, cache_directory, stop)) return *error;
        std::vector<CheckReport> reports;
        for (Shared& family : families_) reports.push_back(std::move(family.report));
        return reports;
    }

  private:
    std::optional<TeamTask::PartError> work(WorkerLink& link, const std::string& on, size_t part,
                                            const std::stop_token& stop) {
        Shared& family = families_[part / parts_];
        CheckReport& own = family.reports[part % parts_];
        CheckRequest request = family.request;
        request.base.on = on;
        request.part = static_cast<int64_t>(part % parts_);
        if (family.stop.stop_requested() && !stop.stop_requested()) return {};  // enough is found
        const std::stop_callback forward(stop, [&] { family.stop.request_stop(); });
        size_t seen = 0;  // findings
        const auto take = [&](const CheckReport& so_far) {
            for (; seen < so_far.findings.size(); ++seen)
                if (is_lost_once(so_far.findings[seen])) tell_loss(so_far.findings[seen]);
            own = without_lost_once(so_far);
            if (request.only_first && !own.findings.empty()) family.stop.request_stop();
        };
        const auto report = link.check(request, family.stop.get_token(), [&](const CheckReport& so_far) {
            const std::lock_guard lock(mutex_);
            take(so_far);
            if (news_) news_(together(family.reports));
        });
        const std::lock_guard lock(mutex_);
        if (report) take(*report);
        const bool is_done = report || (family.stop.stop_requested() && !stop.stop_requested());
        if (is_done) return {};
        // What was found stays in the report until another worker begins this part again.
        return TeamTask::PartError{report.error(), link.take_loss().has_value()};
    }

    void tell(const std::string& line) {
        if (told_) told_(line);
    }

    void tell_loss(const Finding& lost) {
        tell(fmt::format("{}, setting {}, {}: {}; a new worker tries it again", lost.request.family,
                         lost.number + 1, lost.request.variants.front(), lost.problem));
    }

    void finish(Shared& family) {
        const std::lock_guard lock(mutex_);
        if (--family.left > 0) return;
        family.report = together(family.reports);
        family.report.complete = true;
        family.report.trying.reset();
        if (news_) news_(family.report);
    }

    const OnCheck& news_;
    std::function<void(const std::string&)> told_;
    const size_t parts_;
    TeamTask task_;
    std::vector<Shared> families_;
    std::mutex mutex_;
};

}  // namespace

Outcome<std::vector<CheckReport>> check_in_workers(const std::string& cache_directory,
                                                   const std::vector<CheckRequest>& requests,
                                                   std::stop_token stop, const OnCheck& news,
                                                   const std::vector<std::string>& commands,
                                                   const std::function<void(const std::string&)>& told) {
    return ParallelCheck(requests, commands.empty() ? usual_commands(requests.front().base) : commands, news)
        .run(cache_directory, stop, told);
}

}  // namespace sawtooth

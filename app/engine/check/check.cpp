#include "app/engine/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <set>
#include <stop_token>

#include "app/engine/check/battery.h"
#include "app/engine/check/finding_figures.h"
#include "app/engine/check/shrink.h"
#include "app/engine/check/trial.h"
#include "app/engine/guarded.h"
#include "app/engine/run/configure.h"
#include "app/engine/tables/commands.h"
#include "app/engine/tables/tables.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

using Clock = std::chrono::steady_clock;
using PreparedTrial = Outcome<std::shared_ptr<const Trial>>;

constexpr double seconds_to_shrink = 5;
// Most Requests take milliseconds but some take seconds, and on a GPU many wait for a kernel that another one
// is compiling.
constexpr size_t requests_per_core = 2;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t size_of(const CheckRequest& request, const Battery& battery) {
    if (request.most > 0) return request.most;
    return request.seconds ? INT64_MAX : battery.size();
}

// The cores for each of the processes that share a battery.
size_t cores_of(int64_t parts) { return static_cast<size_t>(std::max<int64_t>(1, core_count() / parts)); }

// Prepares the Requests of a battery ahead of time on all cores. They come in order, except that none but the
// first waits for a slow one before it: a kernel may take many seconds to compile. If the first one ends its
// worker, the next worker begins with it, too.
class Ahead {
  public:
    Ahead(Battery& battery, Preparation preparation, const CheckRequest& request, std::stop_token stop)
        : battery_(battery),
          preparation_(std::move(preparation)),
          part_(request.part),
          parts_(request.parts),
          ahead_(requests_per_core * cores_of(request.parts)),
          first_(request.first),
          end_(size_of(request, battery)),
          forward_(std::move(stop), [this] { preparing_.request_stop(); }) {}
    // Nobody waits for what is still being prepared.
    ~Ahead() { preparing_.request_stop(); }
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;

    struct Next {
        int64_t number = 0;  // the place in the battery
        Request request;
        std::future<PreparedTrial> trial;
    };
    // The next Request whose variant is not left out; absent at the end, if all are left out, or if the check
    // is over before one is prepared.
    template <class IsOver>
    std::optional<Next> next(const std::vector<std::string>& left_out, const IsOver& is_over) {
        const auto has = [&](const std::string& name) {
            return std::find(left_out.begin(), left_out.end(), name) != left_out.end();
        };
        const auto is_left_out = [&](const Request& request) { return has(request.variants.front()); };
        if (std::ranges::all_of(battery_.variants(), has, &Variant::name)) return {};
        for (; number_ < first_; ++number_) {  // takes seconds after some hundreds
            if (is_over()) return {};
            battery_.next();
        }
        std::erase_if(waiting_, [&](const Next& one) { return is_left_out(one.request); });
        while (waiting_.size() < ahead_ && number_ < end_) {
            auto request = battery_.next();
            if (!request) break;
            const int64_t number = number_++;
            if (number % parts_ != part_ || is_left_out(*request)) continue;
            auto prepared = std::async(std::launch::async, [this, request = *request] {
                return prepare_trial(request, preparation_, preparing_.get_token());
            });
            waiting_.push_back({number, std::move(*request), std::move(prepared)});
        }
        if (waiting_.empty()) return {};
        auto chosen = first_prepared();
        for (; chosen == waiting_.end(); chosen = first_prepared())
            if (is_over()) return {};
        Next next = std::move(*chosen);
        waiting_.erase(chosen);
        has_begun_ = true;
        return next;
    }
    // The first place whose Request was not returned yet: this process has returned all of its Requests
    // before it.
    int64_t first_waiting() const { return waiting_.empty() ? number_ : waiting_.front().number; }

  private:
    // Waits a millisecond at most.
    std::deque<Next>::iterator first_prepared() {
        const auto end = has_begun_ ? waiting_.end() : waiting_.begin() + 1;
        const auto found = std::find_if(waiting_.begin(), end, [&](const Next& one) {
            const std::chrono::milliseconds wait(&one == &waiting_.front() ? 1 : 0);
            return one.trial.wait_for(wait) == std::future_status::ready;
        });
        return found == end ? waiting_.end() : found;
    }

    Battery& battery_;
    const Preparation preparation_;
    const int64_t part_, parts_;
    const size_t ahead_;  // the number of Requests that are prepared at once
    const int64_t first_, end_;
    std::stop_source preparing_;
    std::stop_callback<std::function<void()>> forward_;
    int64_t number_ = 0;
    bool has_begun_ = false;  // a Request was returned
    std::deque<Next> waiting_;
};

class Check {
  public:
    Check(Clock::time_point start, Runner& runner, const CheckRequest& request, const Family& family,
          Machine machine, std::stop_token stop, const OnCheck& news)
        : start_(start),
          runner_(runner),
          request_(request),
          family_(family),
          machine_(std::move(machine)),
          preparation_{machine_.chip, runner.cache_directory(), cores_of(request.parts)},
          stop_(std::move(stop)),
          news_(news),
          left_out_(request.leave_out) {
        report_.family = family.name;
        report_.device = machine_.words;
    }

    Outcome<CheckReport> run() {
        Battery battery(family_, request_.base, machine_.chip);
        report_.size = request_.seconds ? 0 : size_of(request_, battery);
        Ahead ahead(battery, preparation_, request_, stop_);
        while (!is_over()) {
            auto next = ahead.next(left_out_, [&] { return is_over(); });
            if (!next) break;
            report_.next = std::min(next->number, ahead.first_waiting());
            report_.trying_number = next->number;
            tell(next->request);
            if (auto error = open_for(next->request)) return *error;
            if (auto error = take(*next)) return *error;
            ++report_.tried;
        }
        if (stop_.stop_requested()) return Error::cancelled();
        report_.trying.reset();
        report_.complete = true;
        report_.seconds = seconds_since(start_);
        return report_;
    }

  private:
    bool is_over() const {
        if (request_.only_first && !report_.findings.empty()) return true;
        if (stop_.stop_requested()) return true;
        // The Request that ended the last worker is tried again, however little time is left.
        const bool has_begun = request_.first == 0 || report_.tried > 0;
        return has_begun && request_.seconds && seconds_since(start_) >= *request_.seconds;
    }

    void tell(const Request& request) {
        report_.trying = request;
        report_.seconds = seconds_since(start_);
        if (news_) news_(report_);
    }

    // Opens the machine of a Request: another jitter needs other kernels.
    std::optional<Error> open_for(const Request& request) {
        if (request.jitter == jitter_) return {};
        auto machine = runner_.machine(request, family_);
        if (!machine) return machine.error();
        machine_ = std::move(*machine);
        jitter_ = request.jitter;
        return {};
    }

    // Tries a Request. Errors: cancelled, or the process must end.
    std::optional<Error> take(Ahead::Next& next) {
        const PreparedTrial trial = guarded([&] { return next.trial.get(); });
        if (!trial && trial.error().kind == Error::Kind::cancelled) return trial.error();
        const auto tried =
            trial && *trial ? try_out(**trial, machine_, request_.patience, stop_) : std::nullopt;
        if (!tried) {
            ++report_.given_up;
            return {};
        }
        for (const OutputVerdict& verdict : tried->verdicts) {
            ++report_.judged;
            report_.cannot_judge += verdict.verdict == Verdict::cannot_judge;
        }
        if (!tried->is_wrong()) return {};
        if (tried->hangs) {  // the caller decides, who can try it again in another process
            runner_.give_up();
            return Error::failure(tried->problem);
        }
        const double seconds = seconds_since(start_);
        Finding finding = finding_of(**trial, *tried);
        if (!tried->ends_process) finding = smallest(next.request).value_or(std::move(finding));
        finding.number = next.number;
        finding.seconds = seconds;
        left_out_.push_back(finding.variant);
        report_.findings.push_back(std::move(finding));
        if (!tried->ends_process) return {};
        ++report_.tried;
        tell(next.request);
        runner_.give_up();
        return Error::failure(tried->problem);
    }

    // Parameters without effect would only lengthen the command.
    Request without_unused(Request request) const {
        const Backend backend = machine_.backend();
        const auto settled = configure_shapes(request, {}, backend);
        for (const Parameter& row : family_.parameters)
            if (settled && !row.why_unused(settled->parameters, backend).empty())
                request.parameters.values.erase(row.name);
        return request;
    }

    Finding finding_of(const Trial& trial, const Tried& tried) const {
        Finding finding;
        finding.variant = trial.variant().name;
        finding.request = without_unused(trial.request);
        finding.problem = tried.problem;
        if (const OutputVerdict* const wrong = tried.first_wrong()) finding.verdict = *wrong;
        finding.figures = figures_of_finding(trial, tried);
        return finding;
    }

    // The finding of the smallest Request that fails like this one; absent if this one does not fail again.
    std::optional<Finding> smallest(const Request& failing) {
        const auto start = Clock::now();
        std::optional<Finding> found;
        const auto fails = [&](const Request& smaller) {
            if (seconds_since(start) > seconds_to_shrink || stop_.stop_requested()) return false;
            const PreparedTrial trial = prepare_trial(smaller, preparation_, stop_);
            if (!trial || !*trial) return false;
            const auto tried = try_out(**trial, machine_, request_.patience, stop_);
            if (!tried || !tried->is_wrong() || tried->ends_process) return false;
            found = finding_of(**trial, *tried);
            return true;
        };
        shrunk(family_, failing, machine_.backend(), fails);
        return found;
    }

    const Clock::time_point start_;
    Runner& runner_;
    const CheckRequest& request_;
    const Family& family_;
    Machine machine_;
    int jitter_ = 0;  // the jitter of the kernels of the machine
    const Preparation preparation_;
    const std::stop_token stop_;
    const OnCheck& news_;
    std::vector<std::string> left_out_;
    CheckReport report_;
};

}  // namespace

std::string setting_words(const Request& request) {
    std::string words = request.variants.front();
    const char* separator = ": ";
    for (const auto& [name, value] : request.parameters.values) {
        const double* const real = std::get_if<double>(&value);
        words += separator + name + " " + (real ? short_number(*real) : to_text(value));
        separator = ", ";
    }
    return words;
}

bool has_judged(const CheckReport& report) { return report.judged > report.cannot_judge; }

std::string summary_of(const CheckReport& report) {
    const std::string place = report.device.empty() ? "" : " on " + report.device;
    const std::string unjudged =
        report.cannot_judge > 0 ? fmt::format(" ({} cannot be judged)", with_thousands(report.cannot_judge))
                                : "";
    std::set<std::string> wrong;
    for (const Finding& finding : report.findings) wrong.insert(finding.variant);
    const std::string given_up = report.given_up > 0 ? fmt::format(" ({} undefined, too slow or too large)",
                                                                   with_thousands(report.given_up))
                                                     : "";
    return fmt::format("{}{}: {}{}, {} judged{}, {:.1f} s: {}{}", report.family, place,
                       count_words(report.tried, "setting"), given_up, count_words(report.judged, "output"),
                       unjudged, report.seconds,
                       wrong.empty() ? has_judged(report) ? "no variant is wrong" : "nothing could be judged"
                       : wrong.size() == 1 ? "1 variant is wrong"
                                           : fmt::format("{} variants are wrong", wrong.size()),
                       report.complete ? "" : " so far");
}

std::string sentence_of(const Finding& finding) {
    return finding.problem.empty() ? wrong_sentence(finding.verdict) : finding.problem;
}

std::string command_of(const Finding& finding) {
    if (finding.number < 0) return "";
    Request request = finding.request;
    request.repeats = std::min(request.repeats, 3);
    // Outputs that are stored only on request need a file, so the command names one.
    const bool stores = request.extras == Extras::all;
    return command_of(request) + (stores ? " --output outputs.npz" : "");
}

Outcome<CheckReport> check(Runner& runner, const CheckRequest& request, std::stop_token stop,
                           const OnCheck& news) {
    const auto start = Clock::now();
    if (request.parts < 1 || request.part < 0 || request.part >= request.parts || request.first < 0 ||
        request.most < 0)
        return Error::usage(fmt::format("check: part {} of {}, first {}, most {}: impossible", request.part,
                                        request.parts, request.first, request.most));
    const auto family = find_offered_family(request.base.family);
    if (!family) return family.error();
    auto machine = runner.machine(request.base, **family);
    if (!machine) return machine.error();
    if (const auto known = configure(request.base, {}, machine->backend()); !known) return known.error();
    return Check(start, runner, request, **family, std::move(*machine), std::move(stop), news).run();
}

}  // namespace sawtooth

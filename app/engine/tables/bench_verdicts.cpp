#include "app/engine/tables/bench_verdicts.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "app/engine/compare/live_comparison.h"
#include "app/engine/guarded.h"
#include "app/engine/run/configure.h"
#include "kernels/figures/comparison.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

// Processes that only use processor time; they end with this object and with this process.
class BusyProcesses {
  public:
    explicit BusyProcesses(int count) {
        const pid_t parent = getpid();
        for (int i = 0; i < count; ++i) {
            const pid_t child = fork();
            if (child > 0) children_.push_back(child);
            if (child != 0) continue;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            volatile uint64_t work = 0;
            while (getppid() == parent)
                for (int step = 0; step < 1 << 20; ++step) work = work + 1;
            _exit(0);
        }
    }
    ~BusyProcesses() {
        for (const pid_t child : children_) kill(child, SIGKILL);
        for (const pid_t child : children_) waitpid(child, nullptr, 0);
    }
    BusyProcesses(const BusyProcesses&) = delete;
    BusyProcesses& operator=(const BusyProcesses&) = delete;

  private:
    std::vector<pid_t> children_;
};

// What all trials of a family share.
struct Subject {
    std::shared_ptr<const Result> result;  // gives the inputs and parameters
    const Family* family = nullptr;
    const Variant* variant = nullptr;
    Machine machine;
    std::optional<TimeStatistics> before = {};           // the time in the last trial
    std::vector<TimeStatistics> ones = {}, others = {};  // the trials since the last comparison of rounds
};

bool is_winner(Pace pace) { return pace == Pace::faster || pace == Pace::slower; }

Outcome<Plan> plan_of(const Subject& subject, const Arrays& inputs) {
    return make_plan({.family = *subject.family,
                      .variant = *subject.variant,
                      .parameters = subject.result->parameters,
                      .inputs = inputs,
                      .device = subject.machine.device()});
}

void take_round(Subject& subject, const TimeStatistics& first, const TimeStatistics& second,
                VerdictCounts& counts) {
    subject.ones.push_back(first);
    subject.others.push_back(second);
    if (subject.ones.size() < static_cast<size_t>(rounds_of_comparison)) return;
    ++counts.of_rounds;
    counts.winners_of_rounds += is_winner(compare_rounds(subject.ones, subject.others, Met::in_turns).pace);
    subject.ones.clear();
    subject.others.clear();
}

std::optional<Error> run_trial(Subject& subject, const Request& base, VerdictCounts& counts) {
    const Arrays inputs_of_one = placed_inputs(*subject.result, subject.machine);
    auto one = plan_of(subject, inputs_of_one);
    if (!one) return one.error();
    const Arrays inputs_of_other = placed_inputs(*subject.result, subject.machine);
    auto other = plan_of(subject, inputs_of_other);
    if (!other) return other.error();
    if (counts.trials % 2 == 1) std::swap(*one, *other);  // as in a comparison
    const Executor on = subject.machine.executor();
    auto measured = measure({&*one, &*other}, on, base.cache, base.repeats, [](size_t, int) {});
    if (!measured) return measured.error();
    TimeStatistics &first = (*measured)[0].time, &second = (*measured)[1].time;
    const Pace pace = compare_in_turns(first, second).pace;
    ++counts.trials;
    counts.winners_in_turns += is_winner(pace);
    counts.same += pace == Pace::same;
    counts.cannot_tell += pace == Pace::cannot_tell;
    if (subject.before) counts.winners_apart += is_winner(compare_apart(first, *subject.before).pace);
    take_round(subject, first, second, counts);
    counts.disturbed += static_cast<int>(first.disturbed.size() + second.disturbed.size());
    counts.repeats += static_cast<int>(first.samples.size() + second.samples.size());
    subject.before = std::move(first);
    return {};
}

Outcome<Subject> subject_of(Runner& runner, const Family& family, const Request& base, std::stop_token stop,
                            const OnProgress& progress) {
    Request request = base;
    request.family = family.name;
    request.repeats = 1;
    request.extras = Extras::none;
    auto result = runner.run(request, stop, progress);
    if (!result) return result.error();
    Subject subject;
    subject.result = std::move(*result);
    subject.family = &family;
    for (const VariantResult& variant : subject.result->variants)
        if (variant.ran() && !subject.variant) subject.variant = family.variant(variant.name);
    auto machine = runner.machine(request, family);
    if (!machine) return machine.error();
    subject.machine = std::move(*machine);
    subject.machine.set_stop(stop);
    return subject;
}

}  // namespace

Outcome<VerdictBench> bench_verdicts(Runner& runner, const Request& base, int trials, std::stop_token stop,
                                     const OnProgress& progress) {
    VerdictBench bench;
    std::vector<Subject> subjects;
    for (const Family* family : offered_families()) {
        auto subject = subject_of(runner, *family, base, stop, progress);
        if (!subject) return subject.error();
        subjects.push_back(std::move(*subject));
    }
    bench.device = subjects.front().machine.words;
    for (const int busy : {0, 2}) {
        const BusyProcesses beside(busy);
        VerdictCounts counts{.busy_processes = busy};
        for (Subject& subject : subjects)
            subject.before.reset(), subject.ones.clear(), subject.others.clear();
        for (int trial = 0; trial < trials; ++trial) {
            Subject& subject = subjects[static_cast<size_t>(trial) % subjects.size()];
            if (progress)
                progress({(busy > 0 ? 0.5 : 0) + 0.5 * trial / trials,
                          fmt::format("{}, trial {} of {} beside {} busy processes", subject.family->name,
                                      trial + 1, trials, busy)},
                         {});
            if (auto error = guarded([&] { return run_trial(subject, base, counts); })) return *error;
        }
        bench.counts.push_back(counts);
    }
    return bench;
}

}  // namespace sawtooth

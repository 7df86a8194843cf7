// The part of SingleRun that times repeats.

#include "app/engine/run/single_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "app/engine/run/limit_plans.h"
#include "kernels/core/ceilings.h"
#include "profiling/ceilings.h"
#include "profiling/clocks.h"
#include "profiling/cupti_counters.h"
#include "profiling/cupti_sampling.h"

namespace sawtooth {
namespace {

const std::string copy_words = "a copy of the same size";

// The bytes of the copy that is measured: from this size on its rate no longer depends on the size.
double copied_bytes(double bytes) { return std::min(bytes, static_cast<double>(256 << 20)); }

std::vector<Metric> metrics_of(const VariantResult& variant, const Result& result) {
    if (!variant.time) return {};
    const double seconds = variant.time->median / 1e6;
    const double rate = variant.work.bytes / seconds;
    std::vector<Metric> metrics = {
        {"rate", "rate", "GB/s", rate / 1e9},
        {"operations", "arithmetic", "GFLOP/s", variant.work.operations / seconds / 1e9}};
    if (!result.copy) return metrics;
    const auto share = share_of_limit(rate / 1e9, result.copy->gigabytes_per_second());
    metrics.push_back({"of_copy", share_of_copy, "%", share ? std::optional(100 * *share) : std::nullopt});
    return metrics;
}

// Reports a large change of the processor clock during its lifetime.
class ClockWatch {
  public:
    std::optional<std::string> note() const {
        const auto after = processor_mhz();
        if (!before_ || !after || std::fabs(*after - *before_) <= 0.05 * *before_) return {};
        return fmt::format("the processor clock changed from {:.0f} to {:.0f} MHz during the repeats",
                           *before_, *after);
    }

  private:
    std::optional<double> before_ = processor_mhz();
};

}  // namespace

// Builds the plans of these variants and times them in turns with the copy.
std::optional<Error> SingleRun::measure_together(const std::vector<size_t>& together, const Plan* copy) {
    const Request& request = prepared_.request;
    std::vector<const Plan*> plans;
    for (const size_t v : together) {
        if (auto error = make_plan(v)) return error;
        plans.push_back(&*plans_[v]);
        // On the CPU the repeats overwrite the outputs of the first run.
        if (request.repeats > 0 && prepared_.machine.backend() == Backend::cpu)
            row(v).outputs = copied(row(v).outputs);
    }
    if (copy) plans.push_back(copy);
    const double all = static_cast<double>(plans.size()) * std::max(request.repeats, 1);
    const auto before_run = [&](size_t plan, int round) {
        const std::string& name = plan < together.size() ? variant(together[plan]).name : copy_words;
        const double done = static_cast<double>(plans.size()) * round;
        const double share = static_cast<double>(together.size()) / static_cast<double>(plans_.size());
        say(fmt::format("{}, repeat {} of {}", name, round + 1, request.repeats),
            0.2 + 0.8 * (timed_share_ + share * done / all));
    };
    auto measured = measure(plans, prepared_.machine.executor(), request.cache, request.repeats, before_run);
    if (!measured) return stopped_or(measured.error(), last_.words.substr(0, last_.words.find(',')));
    timed_share_ += static_cast<double>(together.size()) / static_cast<double>(plans_.size());
    if (copy) take_copy(std::move(measured->back().time));
    for (size_t i = 0; i < together.size(); ++i)
        if (auto error = take_time(together[i], std::move((*measured)[i]))) return error;
    return {};
}

// A copy larger than the limit is measured in part, so its times are scaled.
void SingleRun::take_copy(TimeStatistics time) {
    const double whole = result_.work.bytes / copied_bytes(result_.work.bytes);
    for (double& us : time.samples) us *= whole;
    result_.copy = Copy{result_.work.bytes, statistics_of(std::move(time.samples))};
    result_.copy->time.disturbed = std::move(time.disturbed);
}

std::optional<Error> SingleRun::take_time(size_t v, Measured measured) {
    VariantResult& made = row(v);
    if (!measured.note.empty()) note_once(measured.note);
    made.time = std::move(measured.time);
    made.launches = std::move(measured.launches);
    const bool is_timed = prepared_.request.repeats > 0;
    if (is_timed && made.launch_count > static_cast<int64_t>(made.launches.size()))
        result_.notes.push_back(fmt::format("{}: {} launches, of which only the first {} are recorded",
                                            made.name, made.launch_count, made.launches.size()));
    made.metrics = metrics_of(made, result_);
    return is_timed ? judge_repeat(v, made.outputs) : std::nullopt;
}

bool SingleRun::looks_closer() const {
    const Profile profile = prepared_.request.profile;
    return prepared_.machine.timer && (profile == Profile::counters || profile == Profile::sampling);
}

// Reads counters or samples of a GPU; if that fails, a note says why.
std::optional<Error> SingleRun::look_closer(size_t v) {
    GpuTimer* const timer = prepared_.machine.timer;
    const Profile profile = prepared_.request.profile;
    VariantResult& made = row(v);
    std::optional<Error> error;
    if (profile == Profile::counters) {
        say(variant(v).name + ", counters", last_.fraction, true);
        if (const auto passes = read_counters(*timer, *plans_[v], made.launches); passes)
            note_once(fmt::format(
                "counters: first 3 launches of each name, in a separate run, {} passes each, with the "
                "caches as the previous pass left them",
                *passes));
        else
            error = passes.error();
    } else {
        say(variant(v).name + ", samples", last_.fraction, true);
        auto tracks = sample_tracks(*timer, *plans_[v], prepared_.request.cache, made.time->median);
        if (tracks) {
            made.tracks = std::move(*tracks);
            note_once("samples: from separate runs, aligned with the launches at their first rise");
        } else {
            error = tracks.error();
        }
    }
    if (!error) return {};
    if (error->kind == Error::Kind::cancelled || cuda::is_fatal(*error) || timer->abandoned()) return error;
    note_once((profile == Profile::counters ? "no counters: " : "no samples: ") + error->text);
    return {};
}

// All plans take turns if they fit in memory together; otherwise each takes turns with the copy alone.
std::optional<Error> SingleRun::measure_all() {
    auto copy = prepare_copy();
    if (!copy) return copy.error();
    const Plan* const beside = copy->launches.empty() ? nullptr : &*copy;
    std::vector<size_t> ran;
    for (size_t v = 0; v < plans_.size(); ++v)
        if (row(v).ran()) ran.push_back(v);
    result_.in_turns = prepared_.keeps_plans || ran.size() == 1;
    std::optional<Error> error;
    if (result_.in_turns) {
        error = measure_together(ran, beside);
        if (!error && !looks_closer())
            for (auto& plan : plans_) plan.reset();
    } else {
        result_.notes.push_back(
            "the variants do not fit in memory together, so they were timed one after another");
        for (size_t i = 0; i < ran.size() && !error; ++i) {
            error = measure_together({ran[i]}, beside);
            if (!error) plans_[ran[i]].reset();
        }
    }
    // A launch is still using the memory of the copy; freeing it would wait forever.
    const GpuTimer* const timer = prepared_.machine.timer;
    if (timer && timer->abandoned()) new Plan(std::move(*copy));
    return error;
}

// Makes a copy of the bytes that the variants must move and runs it once; it has no launches if there is
// nothing to copy.
Outcome<Plan> SingleRun::prepare_copy() try {
    const auto without = [&](const Error& error) -> Outcome<Plan> {
        if (limit_.token().stop_requested() || cuda::is_fatal(error)) return stopped_or(error, copy_words);
        note_once("could not measure a copy of the same size: " + error.text);
        return Plan();
    };
    if (result_.work.bytes <= 0 || prepared_.request.repeats == 0) return Plan();
    say(copy_words, 0.2);
    auto plan = copy_plan(prepared_.machine, copied_bytes(result_.work.bytes));
    if (!plan) return without(plan.error());
    if (auto error = run_once(*plan)) return without(*error);
    return plan;
} catch (const std::bad_alloc&) {
    note_once("could not measure a copy of the same size: out of memory");
    return Plan();
}

std::optional<Error> SingleRun::measure_variants() {
    GpuTimer* const timer = prepared_.machine.timer;
    const ClockWatch watch;
    auto clocks = timer ? GpuClocks::of(timer->device()) : Outcome<GpuClocks>(Error::failure(""));
    if (clocks) clocks->read_before();
    if (auto error = measure_all()) return error;
    if (clocks) result_.clocks = clocks->read_after();
    for (size_t v = 0; v < plans_.size() && looks_closer(); ++v) {
        if (!row(v).ran()) continue;
        if (auto error = make_plan(v)) return error;
        if (auto error = look_closer(v)) return stopped_or(std::move(*error), variant(v).name);
        plans_[v].reset();
    }
    if (prepared_.request.profile == Profile::none)
        for (VariantResult& made : result_.variants) made.launches.clear();
    if (const auto note = watch.note(); note && !timer) result_.notes.push_back(*note);
    return {};
}

}  // namespace sawtooth

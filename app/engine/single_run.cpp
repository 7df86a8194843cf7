#include "app/engine/single_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "app/engine/compare.h"
#include "app/engine/limit_plans.h"
#include "app/engine/theory.h"
#include "kernels/core/ceilings.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "profiling/ceilings.h"
#include "profiling/clocks.h"
#include "profiling/cupti_counters.h"
#include "profiling/cupti_sampling.h"

namespace sawtooth {
namespace {

const std::string copy_words = "a copy of the same size";

// From this size on the rate of a copy no longer depends on its size.
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
    metrics.push_back(
        {"of_copy", "of copy bandwidth", "%", share ? std::optional(100 * *share) : std::nullopt});
    return metrics;
}

// "sequential, decode: no gradients, …"; "" if there are none.
std::string words_of_forward_only(const Result& result) {
    std::string names;
    for (const VariantResult& variant : result.variants)
        if (variant.ran() && variant.work.bytes < result.work.bytes)
            names += (names.empty() ? "" : ", ") + variant.name;
    return names.empty() ? ""
                         : names + ": no gradients, so times, rates and speed-ups are of the forward pass";
}

// One note for all outputs whose reference has the same chosen rows.
std::vector<std::string> notes_on_rows(const Arrays& reference) {
    std::vector<std::pair<const ChosenRows*, std::string>> kinds;
    for (const Array& array : reference) {
        if (!array.rows) continue;
        const auto same = std::find_if(kinds.begin(), kinds.end(),
                                       [&](const auto& k) { return k.first == array.rows.get(); });
        if (same == kinds.end())
            kinds.emplace_back(array.rows.get(), array.name);
        else
            same->second += ", " + array.name;
    }
    std::vector<std::string> notes;
    for (const auto& [rows, names] : kinds)
        notes.push_back(
            fmt::format("errors of {}: over {} chosen rows of {}; the whole reference would take too long",
                        names, rows->places.size(), with_thousands(count_of(rows->extents))));
    return notes;
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

SingleRun::SingleRun(const Prepared& prepared, const TimeLimit& limit, const OnProgress& progress)
    : prepared_(prepared),
      limit_(limit),
      progress_(progress),
      plans_(prepared.configuration.variants.size()),
      repeated_(plans_.size()) {
    start_result();
    prepared_.machine.set_stop(limit_.token());
    if (!prepared_.machine.timer) return;
    prepared_.machine.timer->on_progress([this] {
        if (progress_) progress_(last_, nullptr);
    });
    prepared_.machine.device()->on_compiling([this](const std::string& file) {
        say("compiling " + file + " (first time only)", last_.fraction, true);
    });
}

SingleRun::~SingleRun() {
    GpuTimer* const timer = prepared_.machine.timer;
    if (!timer) return;
    timer->on_progress({});
    timer->device().on_compiling({});
    // A launch is still using the memory of the plans; freeing it would wait forever.
    if (timer->abandoned())
        new std::vector<std::optional<Plan>>(std::move(plans_));
    else
        timer->stop_recording();
}

void SingleRun::start_result() {
    const Request& request = prepared_.request;
    const Machine& machine = prepared_.machine;
    result_.request = request;
    result_.parameters = prepared_.configuration.parameters;
    result_.main_output = prepared_.configuration.family->main_output;
    result_.backend = machine.backend();
    result_.device = machine.words;
    result_.processors = machine.pool ? machine.pool->threads() : machine.chip.multiprocessors;
    result_.inputs = prepared_.inputs;
    result_.reference = prepared_.reference;
    result_.hops = prepared_.hops;
    result_.work = prepared_.configuration.family->work(prepared_.configuration.parameters);
    result_.notes = prepared_.configuration.notes;
    result_.notes.insert(result_.notes.end(), machine.notes.begin(), machine.notes.end());
    for (std::string& note : notes_on_rows(prepared_.reference)) result_.notes.push_back(std::move(note));
    const bool wants_gpu = request.profile == Profile::counters || request.profile == Profile::sampling;
    if (wants_gpu && machine.backend() == Backend::cpu)
        result_.notes.push_back(
            "profile: counters and samples need a GPU; this run records only times and launches");
}

void SingleRun::say(std::string words, double fraction, bool compiling) {
    last_ = {fraction, std::move(words), compiling};
    if (progress_) progress_(last_, nullptr);
}

// The snapshot shares its arrays with the result and never changes.
void SingleRun::show() {
    if (!result_.timed) result_.hops.insert(result_.hops.end(), clock_.hops().begin(), clock_.hops().end());
    if (progress_) progress_({last_.fraction, "outputs"}, std::make_shared<const Result>(result_));
}

Error SingleRun::stopped_or(Error error, const std::string& what) const {
    if (error.kind == Error::Kind::failure) error.text = what + ": " + error.text;
    return limit_.reason(std::move(error), what);
}

VariantResult& SingleRun::row(size_t v) {
    return *std::find_if(result_.variants.begin(), result_.variants.end(),
                         [&](const VariantResult& row) { return row.name == variant(v).name; });
}

void SingleRun::note_once(const std::string& note) {
    if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
        result_.notes.push_back(note);
}

std::optional<Error> SingleRun::make_plan(size_t v, bool stores_extras) {
    if (plans_[v]) return {};
    auto plan = sawtooth::make_plan({.family = *prepared_.configuration.family,
                                     .variant = variant(v),
                                     .parameters = prepared_.configuration.parameters,
                                     .inputs = prepared_.inputs,
                                     .device = prepared_.machine.device(),
                                     .stores_extras = stores_extras,
                                     .stop = limit_.token()});
    if (!plan) return plan.error();
    plans_[v] = std::move(*plan);
    return {};
}

std::optional<Error> SingleRun::run_once(const Plan& plan) const {
    if (prepared_.machine.timer) return prepared_.machine.timer->run(plan);
    std::vector<LaunchRecord> untimed;
    if (run_plan(plan, *prepared_.machine.pool, Cache::hot, untimed)) return {};
    return Error::cancelled();
}

Definitions::Source SingleRun::source() const {
    return {prepared_.configuration, prepared_.machine.backend(), prepared_.inputs, prepared_.reference,
            prepared_.stores_extras};
}

// By its definition if that is known, otherwise at once by the reference.
OutputVerdict SingleRun::first_verdict(const Array& output, const Variant& variant,
                                       const std::vector<Expected>* expected) const {
    if (expected) return verdict_on(output, variant, source(), *expected);
    const Family& family = *prepared_.configuration.family;
    const Parameters& parameters = prepared_.configuration.parameters;
    const Array* const want =
        variant.is_exact(parameters) ? reference_of(prepared_.reference, variant.name, output) : nullptr;
    if (!want) return {.output = output.name};
    const Rounding rounding = rounding_of(family, variant, parameters, prepared_.machine.backend());
    return judge_at_once(output, *want, rounding, storage_of(*family.array(output.name), parameters));
}

void SingleRun::set_verdict(VariantResult& made, OutputVerdict verdict) const {
    const auto same = std::find_if(made.verdicts.begin(), made.verdicts.end(),
                                   [&](const OutputVerdict& own) { return own.output == verdict.output; });
    if (same == made.verdicts.end())
        made.verdicts.push_back(std::move(verdict));
    else if (same->verdict != Verdict::wrong)
        *same = std::move(verdict);
}

void SingleRun::compare_outputs(VariantResult& made) const {
    const Family& family = *prepared_.configuration.family;
    const Variant& variant = *family.variant(made.name);
    const auto* const expected = prepared_.definitions.known(source(), variant);
    for (const Array& output : made.outputs) {
        if (const Array* const wanted = reference_of(prepared_.reference, made.name, output))
            made.errors.push_back(compare(output, *wanted, family.sequence_axis_of(output.name)));
        set_verdict(made, first_verdict(output, variant, expected));
    }
}

std::optional<Error> SingleRun::judge_outputs() {
    if (!prepared_.configuration.family->definition) return {};
    for (size_t v = 0; v < plans_.size(); ++v) {
        VariantResult& made = row(v);
        if (!made.ran() || (made.verdict() != Verdict::pending && repeated_[v].empty())) continue;
        say("judging " + made.name, last_.fraction);
        const auto expected = prepared_.definitions.find(source(), variant(v), limit_.token());
        if (!expected) return stopped_or(expected.error(), "judging " + made.name);
        for (const Array& output : made.outputs)
            set_verdict(made, verdict_on(output, variant(v), source(), **expected));
        for (const Array& output : repeated_[v]) {
            OutputVerdict again = verdict_on(output, variant(v), source(), **expected);
            if (again.verdict != Verdict::wrong) continue;
            again.worst->where +=
                (again.worst->where.empty() ? "" : "; ") + std::string("in the last repeat");
            set_verdict(made, std::move(again));
        }
        repeated_[v].clear();
    }
    return {};
}

// What a run leaves behind must not change the next one.
std::optional<Error> SingleRun::judge_repeat(size_t v, const Arrays& first) {
    auto later = plans_[v]->outputs();
    if (!later) return later.error();
    VariantResult& made = row(v);
    int64_t changed = 0, count = 0;
    for (const Array& output : *later) {
        const Array* const before = find(first, output.name);
        if (!before || before->shape != output.shape) continue;
        count += output.count();
        const int64_t differing = changed_values(*before, output);
        changed += differing;
        if (differing == 0) continue;
        if (variant(v).unordered) {
            repeated_[v].push_back(copied({output}).front());
            continue;
        }
        set_verdict(made, *changed_since(*before, output));
    }
    if (!variant(v).unordered) return {};
    made.metrics.push_back({"changed_values", "changed values", "", static_cast<double>(changed)});
    if (changed > 0)
        result_.notes.push_back(fmt::format("{}: {} of {} output values changed from one repeat to another",
                                            made.name, with_thousands(changed), with_thousands(count)));
    return {};
}

void SingleRun::note_compiled(size_t v) {
    if (prepared_.machine.device()) row(v).compiled = compiled_launches(*plans_[v], prepared_.machine.chip);
}

std::optional<Error> SingleRun::compute(size_t v) {
    const std::string& name = variant(v).name;
    const double fraction = 0.1 + 0.1 * static_cast<double>(v) / static_cast<double>(plans_.size());
    say(name, fraction);
    if (auto error = make_plan(v, prepared_.stores_extras)) return error;
    clock_.done("plans");
    say(name, fraction);
    if (auto error = run_once(*plans_[v])) return error;
    say(name + ", outputs", fraction);
    auto outputs = plans_[v]->outputs();
    if (!outputs) return outputs.error();
    VariantResult& made = row(v);
    made.memory_bytes = plans_[v]->memory_bytes;
    made.launch_count = static_cast<int64_t>(plans_[v]->launches.size());
    made.work =
        work_of(*prepared_.configuration.family, variant(v), prepared_.configuration.parameters, *plans_[v]);
    made.outputs = std::move(*outputs);
    compare_outputs(made);
    if (prepared_.stores_extras)
        plans_[v].reset();
    else
        note_compiled(v);
    clock_.done(name);
    if (limit_.token().stop_requested()) return Error::cancelled();
    return {};
}

// Skips the variant, or returns the error if it ends the whole run.
std::optional<Error> SingleRun::leave_out(size_t v, Error reason) {
    const GpuTimer* const timer = prepared_.machine.timer;
    if (reason.kind == Error::Kind::cancelled || cuda::is_fatal(reason) || (timer && timer->abandoned()))
        return stopped_or(std::move(reason), variant(v).name);
    row(v).refused = reason.text;
    result_.notes.push_back(variant(v).name + " skipped: " + reason.text);
    return {};
}

std::optional<Error> SingleRun::compute_outputs() {
    const Family& family = *prepared_.configuration.family;
    for (size_t v = 0; v < plans_.size(); ++v) {
        VariantResult made;
        made.name = variant(v).name;
        made.index = static_cast<int>(&variant(v) - family.variants.data());
        made.exact = variant(v).is_exact(prepared_.configuration.parameters);
        result_.variants.push_back(std::move(made));
        std::optional<Error> problem;
        if (const auto why = variant(v).refusal(prepared_.configuration.parameters, prepared_.machine.chip))
            problem = Error::failure(*why);
        else
            problem = compute(v);
        if (problem)
            if (auto error = leave_out(v, std::move(*problem))) return error;
        if (!prepared_.keeps_plans) plans_[v].reset();
    }
    if (std::string words = words_of_forward_only(result_); !words.empty())
        result_.notes.push_back(std::move(words));
    return check_rest();
}

// Builds the plan for timing and runs it once to warm up its memory.
std::optional<Error> SingleRun::leave_extras_out(size_t v) {
    say(variant(v).name, last_.fraction);
    if (auto error = make_plan(v)) return error;
    say(variant(v).name, last_.fraction);
    if (auto error = run_once(*plans_[v])) return error;
    note_compiled(v);
    if (limit_.token().stop_requested()) return Error::cancelled();
    return {};
}

std::optional<Error> SingleRun::prepare_timing() {
    for (size_t v = 0; v < plans_.size() && prepared_.stores_extras; ++v) {
        if (!row(v).ran()) continue;
        if (auto problem = leave_extras_out(v))
            if (auto error = leave_out(v, std::move(*problem))) return error;
        if (!prepared_.keeps_plans) plans_[v].reset();
    }
    return check_rest();
}

// Checks that there is something to measure and that all named variants ran.
std::optional<Error> SingleRun::check_rest() {
    const auto ran = [](const VariantResult& row) { return row.ran(); };
    if (std::none_of(result_.variants.begin(), result_.variants.end(), ran)) {
        std::string reasons;
        for (const VariantResult& row : result_.variants) reasons += "; " + row.name + ": " + row.refused;
        return Error::failure("no variant can run this" + reasons);
    }
    for (const std::string& name : prepared_.request.variants)
        if (const VariantResult* const row = find(result_, name); row && !row->ran())
            return Error::failure(name + " cannot run this: " + row->refused);
    return {};
}

// Builds the plans of these variants and times them in turns with the copy.
std::optional<Error> SingleRun::measure_together(const std::vector<size_t>& together, const Plan* copy) {
    const Request& request = prepared_.request;
    std::vector<const Plan*> plans;
    for (const size_t v : together) {
        if (auto error = make_plan(v)) return error;
        plans.push_back(&*plans_[v]);
        // On the CPU the repeats write over them.
        if (request.repeats > 0 && prepared_.machine.backend() == Backend::cpu)
            row(v).outputs = copied(row(v).outputs);
    }
    if (copy) plans.push_back(copy);
    const double all = static_cast<double>(plans.size()) * std::max(request.repeats, 1);
    const auto before_run = [&](size_t plan, int round) {
        const std::string& name = plan < together.size() ? variant(together[plan]).name : copy_words;
        const double done = static_cast<double>(plans.size()) * round;
        const double part = static_cast<double>(together.size()) / static_cast<double>(plans_.size());
        say(fmt::format("{}, repeat {} of {}", name, round + 1, request.repeats),
            0.2 + 0.8 * (timed_part_ + part * done / all));
    };
    auto measured = measure(plans, prepared_.machine.executor(), request.cache, request.repeats, before_run);
    if (!measured) return stopped_or(measured.error(), last_.words.substr(0, last_.words.find(',')));
    timed_part_ += static_cast<double>(together.size()) / static_cast<double>(plans_.size());
    if (copy) take_copy(std::move(measured->back().time));
    for (size_t i = 0; i < together.size(); ++i)
        if (auto error = take_time(together[i], std::move((*measured)[i]))) return error;
    return {};
}

// Larger than the limit, it was measured in part.
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
    if (made.launch_count > static_cast<int64_t>(made.launches.size()))
        result_.notes.push_back(fmt::format("{}: {} launches, of which only the first {} are recorded",
                                            made.name, made.launch_count, made.launches.size()));
    made.metrics = metrics_of(made, result_);
    return prepared_.request.repeats > 0 ? judge_repeat(v, made.outputs) : std::nullopt;
}

bool SingleRun::looks_closer() const {
    const Profile profile = prepared_.request.profile;
    return prepared_.machine.timer && (profile == Profile::counters || profile == Profile::sampling);
}

// Reads counters or samples of a GPU; a note says why if that fails.
std::optional<Error> SingleRun::look_closer(size_t v) {
    GpuTimer* const timer = prepared_.machine.timer;
    const Profile profile = prepared_.request.profile;
    VariantResult& made = row(v);
    std::optional<Error> error;
    if (profile == Profile::counters) {
        say(variant(v).name + ", counters", last_.fraction);
        if (const auto passes = read_counters(*timer, *plans_[v], made.launches); passes)
            note_once(fmt::format(
                "counters: first 3 launches of each name, in a separate run, {} passes each, with the "
                "caches as the previous pass left them",
                *passes));
        else
            error = passes.error();
    } else {
        say(variant(v).name + ", samples", last_.fraction);
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

// A copy of the bytes that the variants must move, run once; without launches if there is nothing to copy.
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

#include "app/engine/run/single_run.h"
#include "app/engine/run/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/engine/files/host_name.h"
#include "app/engine/run/compare.h"
#include "app/engine/run/planned_kernels.h"
#include "app/engine/run/theory.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/dimensions.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

// Names the variants that have no gradients: "sequential, decode: no gradients, …"; "" if there are none.
std::string words_of_forward_only(const Result& result) {
    std::string names;
    for (const VariantResult& variant : result.variants)
        if (variant.ran() && !does_all(result, variant)) names += (names.empty() ? "" : ", ") + variant.name;
    return names.empty() ? ""
                         : names +
                               ": no gradients, so their times and rates are of the forward pass, and their "
                               "speed-ups compare other work";
}

// One note for all arrays with the same chosen rows: "errors of x, carry: over 256 chosen rows of 8,192; …".
std::vector<std::string> notes_on_rows(const std::string& subject, const Arrays& arrays,
                                       const std::string& why) {
    std::vector<std::pair<const ChosenRows*, std::string>> kinds;
    for (const Array& array : arrays) {
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
        notes.push_back(fmt::format("{} {}: over {} chosen rows of {}; {} would take too long", subject,
                                    names, rows->places.size(), with_thousands(count_of(rows->extents)),
                                    why));
    return notes;
}

// Says that a right kernel has a method that fails for these inputs; "" if it does not.
std::string words_of_failed_method(const Result& result, const VariantResult& variant) {
    if (variant.verdict() != Verdict::right || !has_diverged(result, variant)) return "";
    const Array& reference = *find(result.reference, result.main_output);
    for (int64_t i = 0; i < reference.count(); ++i)
        if (!std::isfinite(std::abs(reference.value(i)))) return "";
    const OutputError& error = *std::ranges::find(variant.errors, result.main_output, &OutputError::output);
    const std::string failure =
        error.nonfinite > 0 ? fmt::format("{} of its values are not finite", with_thousands(error.nonfinite))
                            : "it is off by " + error_words(error.rel_l2.value_or(0));
    return fmt::format("{}: {} is what its method defines, which is far from the exact rule: {}",
                       variant.name, result.main_output, failure);
}

// "; sequential, fused: needs order 1; decode: …"
std::string reasons_of(const std::vector<VariantResult>& refused) {
    std::string words;
    for (auto row = refused.begin(); row != refused.end(); ++row) {
        const auto is_alike = [&](const VariantResult& other) { return other.refused == row->refused; };
        if (std::find_if(refused.begin(), row, is_alike) != row) continue;  // told with the first
        std::string names;
        for (auto other = row; other != refused.end(); ++other)
            if (is_alike(*other)) names += (names.empty() ? "" : ", ") + other->name;
        words += "; " + names + ": " + row->refused;
    }
    return words;
}

}  // namespace

SingleRun::SingleRun(const Prepared& prepared, TimeLimit& limit, const OnProgress& progress)
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
        static_cast<void>(std::make_unique<std::vector<std::optional<Plan>>>(std::move(plans_)).release());
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
    result_.host = host_name();
    result_.processors = machine.pool ? machine.pool->threads() : machine.chip.multiprocessors;
    result_.inputs = prepared_.inputs;
    result_.reference = prepared_.reference;
    result_.hops = prepared_.hops;
    result_.work = prepared_.configuration.family->work(prepared_.configuration.parameters, prepared_.inputs);
    result_.notes = prepared_.configuration.notes;
    result_.notes.insert(result_.notes.end(), machine.notes.begin(), machine.notes.end());
    for (std::string& note : notes_on_rows("errors of", prepared_.reference, "the whole reference"))
        result_.notes.push_back(std::move(note));
    if (!request.kernels.empty() && request.arch.empty() && machine.backend() == Backend::cpu)
        result_.notes.push_back("kernels: not used. They replace CUDA kernels, and this run used the CPU");
    const bool wants_gpu = request.profile == Profile::counters || request.profile == Profile::sampling;
    if (wants_gpu && machine.backend() == Backend::cpu)
        result_.notes.push_back(
            "profile: counters and samples need a GPU; this run records only times and launches");
    for (const auto& [name, is_set] :
         {std::pair("jitter", request.jitter != 0), {"multiprocessors", request.multiprocessors != 0}})
        if (is_set && machine.backend() == Backend::cpu)
            result_.notes.push_back(std::string(name) +
                                    ": not used. It changes CUDA kernels, and this run used the CPU");
}

void SingleRun::say(std::string words, double fraction, bool excused) {
    limit_.excuse(excused);
    last_ = {fraction, std::move(words), excused};
    if (progress_) progress_(last_, nullptr);
}

// The partial result shares its arrays with the result and never changes.
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
                                     .multiprocessors = prepared_.configuration.multiprocessors,
                                     .workers = prepared_.machine.workers(),
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

// The verdict by the definition if that is known, otherwise by the reference alone.
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

void SingleRun::compare_outputs(VariantResult& made) {
    const Family& family = *prepared_.configuration.family;
    const Variant& variant = *family.variant(made.name);
    const auto* const expected = prepared_.definitions.known(source(), variant);
    if (expected) note_judged_rows(*expected);
    for (const Array& output : made.outputs) {
        if (const Array* const wanted = reference_of(prepared_.reference, made.name, output))
            made.errors.push_back(compare(output, *wanted, sequence_axis_of(family, output)));
        set_verdict(made, first_verdict(output, variant, expected));
    }
}

// Adds a note, once, if a verdict covers fewer rows than the error.
void SingleRun::note_judged_rows(const std::vector<Expected>& expected) {
    Arrays fewer;
    for (const Expected& output : expected) {
        const Array* const reference = find(prepared_.reference, output.want.name);
        if (!reference || !reference->rows) fewer.push_back(output.want);
    }
    for (std::string& note : notes_on_rows("verdicts on", fewer, "judging all of them"))
        if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
            result_.notes.push_back(std::move(note));
}

std::optional<Error> SingleRun::judge_outputs() {
    if (!prepared_.configuration.family->definition) return {};
    for (size_t v = 0; v < plans_.size(); ++v) {
        VariantResult& made = row(v);
        if (!made.ran() || (made.verdict() != Verdict::pending && repeated_[v].empty())) continue;
        say("judging " + made.name, last_.fraction, true);
        const auto expected = prepared_.definitions.find(source(), variant(v), limit_.token());
        if (!expected) return stopped_or(expected.error(), "judging " + made.name);
        note_judged_rows(**expected);
        const auto judge = [&](const Arrays& outputs) {
            return verdicts_on(outputs, variant(v), source(), **expected, limit_.token());
        };
        auto verdicts = judge(made.outputs), later = judge(repeated_[v]);
        for (const auto* const judged : {&verdicts, &later})
            if (!*judged) return stopped_or(judged->error(), "judging " + made.name);
        for (OutputVerdict& verdict : *verdicts) set_verdict(made, std::move(verdict));
        for (OutputVerdict& again : *later) {
            if (again.verdict != Verdict::wrong) continue;
            again.worst->where +=
                (again.worst->where.empty() ? "" : "; ") + std::string("in the last repeat");
            set_verdict(made, std::move(again));
        }
        repeated_[v].clear();
    }
    for (const VariantResult& made : result_.variants)
        if (const std::string words = words_of_failed_method(result_, made); !words.empty()) note_once(words);
    return {};
}

// Judges the outputs of the last repeat: what a run leaves behind must not change the next one.
std::optional<Error> SingleRun::judge_repeat(size_t v, const Arrays& first) {
    auto later = plans_[v]->outputs();
    if (!later) return later.error();
    VariantResult& made = row(v);
    int64_t changed = 0, count = 0;
    const bool unordered = variant(v).is_unordered(result_.parameters);
    for (const Array& output : *later) {
        const Array* const before = find(first, output.name);
        if (!before || before->shape != output.shape) continue;
        count += Numbers(output).count();
        const int64_t differing = changed_values(*before, output);
        changed += differing;
        if (differing == 0) continue;
        if (unordered) {
            repeated_[v].push_back(copied({output}).front());
            continue;
        }
        set_verdict(made, *changed_since(*before, output));
    }
    if (!unordered) return {};
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
    made.work = work_of(*prepared_.configuration.family, variant(v), prepared_.configuration.parameters,
                        prepared_.inputs, *plans_[v]);
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
    if (cuda::Device* const device = prepared_.machine.device())
        device->compile_together(planned_kernels(prepared_.configuration, prepared_.inputs,
                                                 prepared_.stores_extras, *device, limit_.token()),
                                 limit_.token());
    const Chip chip = planned_chip(prepared_.machine.chip, prepared_.configuration.multiprocessors);
    for (size_t v = 0; v < plans_.size(); ++v) {
        VariantResult made;
        made.name = variant(v).name;
        made.index = static_cast<int>(&variant(v) - family.variants.data());
        made.exact = variant(v).is_exact(prepared_.configuration.parameters);
        result_.variants.push_back(std::move(made));
        std::optional<Error> problem;
        if (const auto why = variant(v).refusal(prepared_.configuration.parameters, chip))
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

// Checks that there is something to measure and that all named variants of a run ran.
std::optional<Error> SingleRun::check_rest() {
    const auto ran = [](const VariantResult& row) { return row.ran(); };
    if (std::none_of(result_.variants.begin(), result_.variants.end(), ran))
        return Error::failure("no variant can run this" + reasons_of(result_.variants));
    if (prepared_.is_cell) return {};
    for (const std::string& name : prepared_.request.variants)
        if (const VariantResult* const row = find(result_, name); row && !row->ran())
            return Error::failure(name + " cannot run this: " + row->refused);
    return {};
}

}  // namespace sawtooth

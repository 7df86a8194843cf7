#include "app/engine/compare/live_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/engine/guarded.h"
#include "app/engine/identity.h"
#include "app/engine/machine/devices.h"
#include "app/engine/machine/memory.h"
#include "app/engine/run/run_rows.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "profiling/pairs.h"

namespace sawtooth {
namespace {

constexpr int rounds = rounds_of_comparison;

// What one side builds its plans from.
struct Subject {
    std::shared_ptr<const Result> result;
    const Family* family = nullptr;
    Machine machine;

    bool is_abandoned() const { return machine.timer && machine.timer->abandoned(); }
};

Error named(const std::string& side, Error error) {
    if (error.kind != Error::Kind::cancelled) error.text = side + ": " + error.text;
    return error;
}

// Runs the Request once, for its outputs and verdicts.
Outcome<Subject> subject_of(const LiveSide& side, std::stop_token stop, const OnProgress& progress) {
    Request request = side.request;
    request.repeats = 1;
    request.profile = Profile::none;
    request.extras = Extras::none;
    request.time_limit_seconds.reset();
    auto result = side.runner.run(request, stop, progress);
    if (!result) return result.error();
    Subject subject{std::move(*result), *find_offered_family(request.family), {}};
    auto machine = side.runner.machine(request, *subject.family);
    if (!machine) return machine.error();
    subject.machine = std::move(*machine);
    subject.machine.set_stop(stop);
    return subject;
}

// Where the plans of B run: those of the same device run where A's do, so that nothing but the plans differs.
Executor executor_of_b(const Subject& a, const Subject& b) {
    const bool is_same_pool =
        a.machine.pool && b.machine.pool && a.machine.pool->threads() == b.machine.pool->threads();
    const bool is_same_gpu =
        a.machine.timer && b.machine.timer && a.result->request.device == b.result->request.device;
    return is_same_pool || is_same_gpu ? a.machine.executor() : b.machine.executor();
}

Outcome<Plan> plan_of(const Subject& subject, const std::string& variant, const Arrays& inputs,
                      const std::stop_token& stop) {
    auto plan = make_plan({.family = *subject.family,
                           .variant = *subject.family->variant(variant),
                           .parameters = subject.result->parameters,
                           .inputs = inputs,
                           .device = subject.machine.device(),
                           .workers = subject.machine.workers(),
                           .stop = stop});
    // It may run on another stream than the one that fills its memory.
    if (plan && subject.machine.device())
        if (auto error = subject.machine.device()->wait()) return *error;
    return plan;
}

ComparedSide side_of(const Result& result, const VariantResult& variant) {
    ComparedSide side{variant.name, result.device, result.parameters};
    if (variant.verdict() == Verdict::wrong) side.wrong = wrong_sentence(variant);
    return side;
}

// The variants of B by those of A: the same names, or the same places in two lists of as many names.
std::string partner_of(const std::string& variant, const std::vector<std::string>& a,
                       const std::vector<std::string>& b) {
    const auto place = static_cast<size_t>(std::find(a.begin(), a.end(), variant) - a.begin());
    return a.size() == b.size() && place < a.size() ? b[place] : variant;
}

class LiveComparison {
  public:
    LiveComparison(const LiveSide& a, const LiveSide& b, std::stop_token stop, const OnProgress& progress)
        : a_(a), b_(b), stop_(std::move(stop)), progress_(progress) {
        report_ = {a.name, b.name,
                   fmt::format("in turns, {} rounds of {} {}", rounds, a.request.repeats,
                               a.request.repeats == 1 ? "repeat" : "repeats"),
                   today(), build_identity()};
    }

    Outcome<ComparisonReport> run() {
        if (auto error = prepare()) return *error;
        pair_variants();
        const size_t count = report_.variants.size();
        for (int round = 0; round < rounds; ++round)
            for (size_t i = 0; i < count; ++i) {
                ComparedVariant& variant = report_.variants[(i + static_cast<size_t>(round)) % count];
                const double done = static_cast<double>(static_cast<size_t>(round) * count + i);
                fraction_ = 0.2 + 0.8 * done / static_cast<double>(rounds * count);
                if (auto error = take_round(variant, round)) return *error;
            }
        for (const Subject* const subject : {&*of_a_, &*of_b_})
            if (subject->machine.timer && !subject->is_abandoned()) subject->machine.timer->stop_recording();
        for (ComparedVariant& variant : report_.variants)
            variant.comparison = compare_rounds(variant.b.rounds, variant.a.rounds, Met::in_turns);
        note_different_work();
        note_disturbances();
        return std::move(report_);
    }

  private:
    void say(double fraction, const std::string& words) const {
        if (progress_) progress_({fraction, words}, nullptr);
    }

    std::optional<Error> prepare() {
        const auto prepared = [&](const LiveSide& side, const char* name, double begin) {
            return subject_of(side, stop_, [&](const Progress& now, auto) {
                say(begin + 0.1 * now.fraction, std::string(name) + ": " + now.words);
            });
        };
        auto of_a = prepared(a_, "A", 0);
        if (!of_a) return named("A", of_a.error());
        of_a_ = std::move(*of_a);
        auto of_b = prepared(b_, "B", 0.1);
        if (!of_b) return named("B", of_b.error());
        of_b_ = std::move(*of_b);
        add_notes();
        return {};
    }

    // Notes of one side have its name.
    void add_notes() {
        const auto &ones = of_a_->result->notes, &others = of_b_->result->notes;
        const auto has = [](const std::vector<std::string>& notes, const std::string& note) {
            return std::find(notes.begin(), notes.end(), note) != notes.end();
        };
        for (const std::string& note : ones) report_.notes.push_back((has(others, note) ? "" : "A: ") + note);
        for (const std::string& note : others)
            if (!has(ones, note)) report_.notes.push_back("B: " + note);
    }

    void pair_variants() {
        const Result &a = *of_a_->result, &b = *of_b_->result;
        std::vector<std::string> paired;
        for (const VariantResult& one : a.variants) {
            const std::string partner = partner_of(one.name, a_.request.variants, b_.request.variants);
            const VariantResult* const other = find(b, partner);
            paired.push_back(partner);
            if (!one.ran()) continue;
            ComparedVariant variant{a.request.family, "", side_of(a, one), {partner, b.device, b.parameters}};
            if (other) variant.b = side_of(b, *other);
            if (!other || !other->ran())
                variant.unknown = "it did not run in B" + (other ? ": " + other->refused : "");
            report_.variants.push_back(std::move(variant));
        }
        for (const VariantResult& other : b.variants) {
            const bool is_paired = std::find(paired.begin(), paired.end(), other.name) != paired.end();
            const VariantResult* const one = is_paired ? find(a, other.name) : nullptr;
            if (other.ran() && (!is_paired || (one && !one->ran())))
                report_.not_compared.push_back("only in B: " + b.request.family + " " + other.name);
        }
    }

    std::optional<Error> take_round(ComparedVariant& variant, int round) {
        if (conclusion_is_known(variant)) return {};
        auto error = guarded([&] { return measure_round(variant, round); });
        if (!error) return {};
        const bool ends_all = error->kind == Error::Kind::cancelled || cuda::is_fatal(*error) ||
                              of_a_->is_abandoned() || of_b_->is_abandoned();
        if (ends_all) return error;
        variant.unknown = error->text;
        return {};
    }

    void note_different_work() {
        for (const ComparedVariant& variant : report_.variants) {
            const VariantResult* const a = find(*of_a_->result, variant.a.variant);
            const VariantResult* const b = find(*of_b_->result, variant.b.variant);
            if (!a || !b || a->work.bytes == b->work.bytes) continue;
            report_.notes.push_back(fmt::format(
                "A and B do different work: {} of A moves at least {}, {} of B {}", variant.a.variant,
                short_bytes(a->work.bytes), variant.b.variant, short_bytes(b->work.bytes)));
            return;
        }
    }

    // A reason why much cannot be told.
    void note_disturbances() {
        size_t disturbed = 0, all = 0;
        for (const ComparedVariant& variant : report_.variants)
            for (const auto* const side : {&variant.a, &variant.b})
                for (const TimeStatistics& round : side->rounds)
                    disturbed += round.disturbed.size(), all += round.samples.size();
        constexpr double many = 0.05;
        const double share = all > 0 ? static_cast<double>(disturbed) / static_cast<double>(all) : 0;
        if (share <= many) return;
        const Backend a = of_a_->machine.backend(), b = of_b_->machine.backend();
        const int threads = std::max(of_a_->machine.workers(), of_b_->machine.workers());
        report_.notes.push_back(fmt::format(
            "{}{} in {:.0f} % of the repeats{}", disturbance_words(a),
            a == b ? "" : ", or " + disturbance_words(b) + ",", 100 * share,
            threads > cores() ? fmt::format("; {} threads share {}", threads, count_words(cores(), "core"))
                              : ""));
    }

    static bool conclusion_is_known(const ComparedVariant& variant) {
        return !variant.unknown.empty() || !variant.a.wrong.empty() || !variant.b.wrong.empty();
    }

    // The copies of the inputs, in the memory that is free beside the runs of both sides.
    std::optional<Error> check_copies() const {
        int64_t bytes = 0;
        for (const Subject* side : {&*of_a_, &*of_b_})
            if (!side->machine.device())
                for (const Array& array : side->result->inputs) bytes += array.bytes();
        return check_memory(bytes, a_.request.memory_limit_bytes);
    }

    // In odd rounds B is first: whatever the first plan gets, such as better memory, each gets about as
    // often.
    std::optional<Error> measure_round(ComparedVariant& variant, int round) {
        const bool is_swapped = round % 2 == 1;
        ComparedSide &first = is_swapped ? variant.b : variant.a,
                     &second = is_swapped ? variant.a : variant.b;
        const Subject &of_first = is_swapped ? *of_b_ : *of_a_, &of_second = is_swapped ? *of_a_ : *of_b_;
        if (auto problem = check_copies()) return problem;
        const Arrays inputs_of_first = placed_inputs(*of_first.result, of_first.machine);
        auto one = plan_of(of_first, first.variant, inputs_of_first, stop_);
        if (!one) return one.error();
        const Arrays inputs_of_second = placed_inputs(*of_second.result, of_second.machine);
        auto other = plan_of(of_second, second.variant, inputs_of_second, stop_);
        if (!other) return other.error();
        const Executor on_a = of_a_->machine.executor(), on_b = executor_of_b(*of_a_, *of_b_);
        auto times = measure_pair(
            {&*one, is_swapped ? on_b : on_a}, {&*other, is_swapped ? on_a : on_b}, a_.request.cache,
            a_.request.repeats,
            [&] { say(fraction_, fmt::format("{}, round {} of {}", name_of(variant), round + 1, rounds)); });
        // A launch is still using their memory; freeing it would wait forever.
        if (of_a_->is_abandoned() || of_b_->is_abandoned())
            new std::array<Plan, 2>{std::move(*one), std::move(*other)};
        if (!times) return times.error();
        first.rounds.push_back(std::move(times->first));
        second.rounds.push_back(std::move(times->second));
        return {};
    }

    const LiveSide &a_, &b_;
    const std::stop_token stop_;
    const OnProgress& progress_;
    std::optional<Subject> of_a_, of_b_;
    ComparisonReport report_;
    double fraction_ = 0;
};

}  // namespace

Arrays placed_inputs(const Result& result, const Machine& machine) {
    return machine.device() ? result.inputs : copied(result.inputs);
}

Outcome<ComparisonReport> compare_live(const LiveSide& a, const LiveSide& b, std::stop_token stop,
                                       const OnProgress& progress) {
    TimeLimit limit(std::move(stop), a.request.time_limit_seconds);
    auto report = LiveComparison(a, b, limit.token(), progress).run();
    if (report) return report;
    return limit.reason(report.error(), "the comparison");
}

}  // namespace sawtooth

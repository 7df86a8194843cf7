#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/engine/machine/machine.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/definitions.h"
#include "app/engine/run/runner.h"
#include "app/engine/run/stopwatch.h"
#include "kernels/core/plan.h"
#include "kernels/core/result.h"
#include "profiling/measure.h"

namespace sawtooth {

// A Request together with its inputs and its reference.
struct Prepared {
    const Request& request;
    const Configuration& configuration;
    const Machine& machine;
    const Arrays& inputs;
    Arrays reference;
    Definitions& definitions;
    std::vector<Hop> hops;       // the times measured so far
    bool stores_extras = false;  // outputs stored only on request are stored
    bool keeps_plans = true;     // false: the plans do not all fit in memory at once
    bool is_cell = false;        // of a sweep: named variants may be unable to run it
};

// Runs and measures the variants of one Request, step by step; the result grows with every step. An error of
// any step ends the run: cancelled, or a failure.
class SingleRun {
  public:
    SingleRun(const Prepared& prepared, TimeLimit& limit, const OnProgress& progress);
    ~SingleRun();
    SingleRun(const SingleRun&) = delete;
    SingleRun& operator=(const SingleRun&) = delete;

    Result& result() { return result_; }

    // Runs every variant once to get its outputs and errors. A variant that cannot run is left out; this is
    // an error if it was named or if none remains.
    std::optional<Error> compute_outputs();
    void show();  // reports the state of the result as a partial result

    // Builds the plans for timing, which store no extras, and records the compiled resources of their
    // kernels. Leaves out variants in the same way.
    std::optional<Error> prepare_timing();
    // Measures times and launches, and counters or samples if requested. The outputs of the last repeat must
    // equal those of the first run.
    std::optional<Error> measure_variants();

    // Judges the outputs that compute_outputs could not judge at once.
    std::optional<Error> judge_outputs();

    // The error of a step; a failure names the step, `what`. If the step was stopped by the time limit, the
    // error is a failure that says so.
    Error stopped_or(Error error, const std::string& what) const;
    void say(std::string words, double fraction, bool excused = false);

  private:
    const Variant& variant(size_t v) const { return *prepared_.configuration.variants[v]; }
    VariantResult& row(size_t v);
    void start_result();
    std::optional<Error> make_plan(size_t v, bool stores_extras = false);
    std::optional<Error> run_once(const Plan& plan) const;
    std::optional<Error> compute(size_t v);
    std::optional<Error> leave_extras_out(size_t v);
    std::optional<Error> leave_out(size_t v, Error reason);
    void compare_outputs(VariantResult& made);
    Definitions::Source source() const;
    OutputVerdict first_verdict(const Array& output, const Variant& variant,
                                const std::vector<Expected>* expected) const;
    void set_verdict(VariantResult& made, OutputVerdict verdict) const;
    void note_judged_rows(const std::vector<Expected>& expected);
    std::optional<Error> judge_repeat(size_t v, const Arrays& first);
    void note_compiled(size_t v);
    std::optional<Error> check_rest();
    std::optional<Error> measure_all();
    Outcome<Plan> prepare_copy();
    std::optional<Error> measure_together(const std::vector<size_t>& together, const Plan* copy);
    void take_copy(TimeStatistics time);
    std::optional<Error> take_time(size_t v, Measured measured);
    bool looks_closer() const;
    std::optional<Error> look_closer(size_t v);
    void note_once(const std::string& note);

    const Prepared& prepared_;
    TimeLimit& limit_;
    const OnProgress& progress_;
    Result result_;
    std::vector<std::optional<Plan>> plans_;
    std::vector<Arrays> repeated_;  // outputs of the last repeat that are still to be judged
    double timed_share_ = 0;        // the timed share of the variants, 0 to 1
    Progress last_;                 // the last progress that was sent
    Stopwatch clock_;
};

}  // namespace sawtooth

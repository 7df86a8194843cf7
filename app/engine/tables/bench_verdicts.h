#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/run/runner.h"

namespace sawtooth {

// How often verdicts on speed are wrong: a variant is compared with itself, so every winner is a wrong one.
struct VerdictCounts {
    int busy_processes = 0;  // that ran beside, each with one thread
    int trials = 0;          // each with new plans and inputs of one family at its defaults
    // Verdicts that named a winner, of two that took turns, as the variants of a run do, and of two measured
    // one after the other, as the cells of a sweep are.
    int winners_in_turns = 0, winners_apart = 0;
    int same = 0, cannot_tell = 0;  // of those that took turns
    int disturbed = 0, repeats = 0;
};

struct VerdictBench {
    std::string device;
    std::vector<VerdictCounts> counts;  // on a quiet machine, and beside two busy processes
};

// `trials` are shared among the families with that backend. Errors: cancelled, or a failure.
Outcome<VerdictBench> bench_verdicts(Runner& runner, const Request& base, int trials, std::stop_token stop,
                                     const OnProgress& progress);

}  // namespace sawtooth

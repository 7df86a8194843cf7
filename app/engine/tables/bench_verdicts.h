#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/run/runner.h"

namespace sawtooth {

// Counts how often verdicts on speed are wrong: a variant is compared with itself, so every winner is a wrong
// verdict.
struct VerdictCounts {
    int busy_processes = 0;  // processes that ran at the same time, with one thread each
    int trials = 0;          // each has new plans, and inputs of one family at its defaults
    // The verdicts that named a winner: between two plans that took turns, as the variants of a run do, and
    // between two measured one after the other, as the cells of a sweep are.
    int winners_in_turns = 0, winners_apart = 0;
    int same = 0, cannot_tell = 0;  // among the plans that took turns
    // Comparisons of 9 trials of a family as the rounds of `compare`, and those that named a winner.
    int of_rounds = 0, winners_of_rounds = 0;
    int disturbed = 0, repeats = 0;
};

struct VerdictBench {
    std::string device;
    std::vector<VerdictCounts> counts;  // first on a quiet machine, then beside two busy processes
};

// Divides `trials` among the families with that backend. Errors: cancelled, or a failure.
Outcome<VerdictBench> bench_verdicts(Runner& runner, const Request& base, int trials, std::stop_token stop,
                                     const OnProgress& progress);

}  // namespace sawtooth

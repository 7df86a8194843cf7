#pragma once

#include <stop_token>
#include <string>

#include "app/engine/compare/comparison_report.h"
#include "app/engine/run/runner.h"

namespace sawtooth {

// With 9 rounds chance alone tells equal plans apart in fewer than 1 of 200 comparisons, even if each plan is
// fast or slow for a whole round; with 3 in 1 of 32.
constexpr int rounds_of_comparison = 9;

// A Request to compare, and a Runner of its own, because the two may need different devices at the same time.
struct LiveSide {
    Runner& runner;
    Request request;
    std::string name;  // "block_size=512"
};

// The inputs for a plan of its own: a plan on the CPU reads them where they are, and is faster in some
// places.
Arrays placed_inputs(const Result& result, const Machine& machine);

// Runs both Requests, of the same family, judges their outputs, and times their variants against each other:
// in 9 rounds, each with new plans; in a round the two variants of a pair take turns for as many repeats as
// the Requests say. Pairs change their order from round to round, and so do the two of a pair. Variants are
// paired by name, or by their place if both Requests name as many. Errors: those of Runner::run, with the
// name of the side; cancelled.
Outcome<ComparisonReport> compare_live(const LiveSide& a, const LiveSide& b, std::stop_token stop,
                                       const OnProgress& progress);

}  // namespace sawtooth

#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth::cli {

struct SummaryLine {
    std::string text;
    bool wrong = false;  // a result that cannot be trusted
};

// What a run shows, in sentences: the fastest right variant, a faster approximation, how long sequential
// leaves the machine idle, then what is wrong.
std::vector<SummaryLine> summary_of(const Result& result);

}  // namespace sawtooth::cli

#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth::cli {

struct SummaryLine {
    std::string text;
    bool wrong = false;  // about a wrong result
};

// The result in sentences: the fastest correct variant, a faster approximation, the idle share of
// sequential, then the wrong results.
std::vector<SummaryLine> summary_of(const Result& result);

}  // namespace sawtooth::cli

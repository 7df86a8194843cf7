#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

struct SummaryLine {
    std::string text;
    bool wrong = false;  // the line reports a wrong result
};

// The result in sentences: the fastest correct variant, a faster approximation, the idle share of
// sequential, then the wrong results.
std::vector<SummaryLine> summary_of(const Result& result);
// The speed of each correct variant relative to the first one, with the interval of the ratio. Has no rows if
// no variant is correct.
Table speed_table(const Result& result);

}  // namespace sawtooth::cli

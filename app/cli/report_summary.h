#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"
#include "kernels/core/table.h"

namespace sawtooth::cli {

struct SummaryLine {
    std::string text;
    bool wrong = false;  // about a wrong result
};

// The result in sentences: the fastest correct variant, a faster approximation, the idle share of
// sequential, then the wrong results.
std::vector<SummaryLine> summary_of(const Result& result);
// How fast each right variant is beside the first one, with the interval of the ratio. Without rows if there
// is none.
Table speed_table(const Result& result);

}  // namespace sawtooth::cli

#pragma once

#include <string>

#include "kernels/core/result.h"
#include "kernels/core/table.h"

namespace sawtooth {

// Adds columns to a table of variants that compare a result with an earlier one, called `name`: the time of
// each variant with a verdict ("2.4x faster", "cannot tell"), the rate likewise if the two move other amounts
// of bytes, the error of its main output as a multiple, and of its main launch the difference in registers
// and in occupancy if both are known. They come after the column "verdict", or before "skipped".
void add_comparison(Table& table, const Result& result, const Result& base, const std::string& name);

}  // namespace sawtooth

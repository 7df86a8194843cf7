#pragma once

#include <string>

#include "kernels/core/result.h"
#include "kernels/core/sweep.h"
#include "kernels/core/table.h"

namespace sawtooth {

// One row a variant: time with spread, rate, errors, launches, memory, metrics; refused variants say why.
Table numbers_table(const Result& result);
// One row a variant and output: how far from the reference.
Table errors_table(const Result& result);
// One row a launch: name, grid, start, duration, bytes a second.
Table launches_table(const VariantResult& variant);
// One row a cell and variant; refused cells are rows with their reason.
Table sweep_table(const SweepResult& result);

// What the machine can do at most, in a sentence.
std::string words_of(const Ceilings& ceilings);

// "sawtooth run scan --set length=8192 …", quoted for a shell: makes the same numbers.
std::string command_of(const Request& request);
// "sawtooth sweep scan --over length=512,1024 …" likewise.
std::string command_of(const Sweep& sweep);

}  // namespace sawtooth

#pragma once

#include <cstdint>
#include <functional>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// For definitions with noise, which a judge computes several times. Limits the work to about 2^22 numbers of
// the largest output: chooses rows evenly, the first and the last among them, if all of them have more. A row
// is one index of the dimensions `extents`, which come first in every input, such as one sequence; in the
// largest output it has `numbers_a_row` numbers. compute(inputs, rows) receives inputs of the chosen rows;
// its outputs begin with as many dimensions as `extents` has, which are replaced.
Outcome<Arrays> compute_some_rows(
    const Arrays& inputs, const Shape& extents, int64_t numbers_a_row,
    const std::function<Outcome<Arrays>(const Arrays& inputs, int64_t rows)>& compute);

}  // namespace sawtooth

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Limits the work of definitions with noise, which a judge computes several times, to about 2^22 numbers of
// the largest output. If there are more, it chooses rows evenly, the first and the last among them. A row,
// such as one sequence, is one index into each of the dimensions `extents`, which come first in every input
// but the `shared` ones; in the largest output it has `numbers_a_row` numbers. compute(inputs, rows) receives
// the inputs of the chosen rows. Its outputs begin with as many dimensions as `extents` has, which are
// replaced by that of the rows.
Outcome<Arrays> compute_some_rows(
    const Arrays& inputs, const std::set<std::string>& shared, const Shape& extents, int64_t numbers_a_row,
    const std::function<Outcome<Arrays>(const Arrays& inputs, int64_t rows)>& compute);

}  // namespace sawtooth

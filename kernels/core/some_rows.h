#pragma once

#include <cstdint>
#include <functional>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Computes some of many independent rows, such as sequences, where a judge draws a definition with noise
// several times: at most about 2^22 numbers of an output, the first and the last row among them, the others
// spread evenly. `extents` are the first dimensions of every input; a row has so many numbers in the largest
// output. compute(inputs, rows) sees only those rows and keeps as many dimensions before them as there are
// extents.
Outcome<Arrays> compute_some_rows(
    const Arrays& inputs, const Shape& extents, int64_t numbers,
    const std::function<Outcome<Arrays>(const Arrays& inputs, int64_t rows)>& compute);

}  // namespace sawtooth

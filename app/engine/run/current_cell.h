#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "kernels/core/sweep.h"

namespace sawtooth {

// Where a sweep passes through the settings of a result, its cell is that result: figures of the sweep and of
// the result then show the same numbers.

// The cell with the numbers of the result; absent if its settings are others, or the result is not complete.
std::optional<SweepCell> cell_from(const Sweep& sweep, size_t index, const Result& result);

// The sweep with such cells among its finished ones; null if there is none.
std::shared_ptr<const SweepResult> with_current(const SweepResult& sweep, const Result& result);

}  // namespace sawtooth

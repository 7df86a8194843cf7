#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "kernels/core/sweep.h"

namespace sawtooth {

// A sweep that passes through the settings of a result takes over the result as that cell, so that figures of
// the sweep and of the result show the same numbers.

// The cell with the numbers of the result; absent if the settings differ, or if the result is not complete.
std::optional<SweepCell> cell_from(const Sweep& sweep, size_t index, const Result& result);

// The sweep with such cells among its finished ones; null if there are none.
std::shared_ptr<const SweepResult> with_current(const SweepResult& sweep, const Result& result);

}  // namespace sawtooth

#pragma once

#include <string>

#include "kernels/core/result.h"

namespace sawtooth {

// Errors of an output against its reference, which has the same shape. `sequence_axis` is the axis along
// which they are reported by position, -1 for none. A value that is not finite is not an error if the
// reference has the same; it is counted either way, as is a finite value where the reference has none.
OutputError compare(const Array& output, const Array& reference, int sequence_axis);

}  // namespace sawtooth

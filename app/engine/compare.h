#pragma once

#include "kernels/core/result.h"

namespace sawtooth {

// The errors of an output against its reference, of the same shape. `sequence_axis` is the axis along which
// they are reported by position, -1 for none. A value that is not finite is no error where the reference has
// the same one; it is counted either way, and so is a finite value in place of one that is not.
OutputError compare(const Array& output, const Array& reference, int sequence_axis);

}  // namespace sawtooth

#pragma once

#include <string>

#include "kernels/core/result.h"

namespace sawtooth {

// Errors of an output against a reference of all or of chosen rows of it. `sequence_axis` is the axis for
// errors by position, -1 for none. A non-finite value is not an error if the reference has the same, but it
// is counted; so is a finite value where the reference is not finite.
OutputError compare(const Array& output, const Array& reference, int sequence_axis);

// The values of `later` whose bits differ in `earlier`, an array of the same shape. Each part of a complex
// number counts as a value.
int64_t changed_values(const Array& earlier, const Array& later);

}  // namespace sawtooth

#pragma once

#include <string>

#include "kernels/core/result.h"

namespace sawtooth {

// The errors of an output against a reference that has all of its rows or chosen ones. `sequence_axis` is the
// axis for errors by position, -1 for none. A non-finite value is no error if the reference has the same; it
// is counted, and so is a finite value where the reference is not finite.
OutputError compare(const Array& output, const Array& reference, int sequence_axis);

// The number of values of `later` whose bits differ in `earlier`, an array of the same shape. The two parts
// of a complex number count separately.
int64_t changed_values(const Array& earlier, const Array& later);

}  // namespace sawtooth

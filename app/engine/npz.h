#pragma once

#include <optional>
#include <string>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// NumPy's .npz: stored and deflated members, ZIP64, .npy 1.0 to 3.0, <f2 <f4 <f8 <c8 <c16 <i4 <i8 |b1, both
// orders. Narrow and wide floats become f32 (f8 rounded), c16 complex64, i8 and b1 int32. Declared sizes are
// checked against the real ones before memory is taken. Names with '/' are left out; a name with ".." or a
// leading '/' is refused. Every error names the file and the array in it; all are of usage but one of an
// array that memory has no room for.
Outcome<Arrays> read_npz(const std::string& path);

// Writes f32, f64, complex64, complex128 and int32 as numpy.savez does, whole or not at all.
std::optional<Error> write_npz(const std::string& path, const Arrays& arrays);

}  // namespace sawtooth

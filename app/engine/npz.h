#pragma once

#include <optional>
#include <string>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// NumPy's .npz: stored and deflated members, ZIP64, .npy 1.0 to 3.0, <f2 <f4 <f8 <c8 <c16 <i4 <i8 |b1, both
// orders. Floats become f32 (f8 is rounded), complex numbers complex64, i8 and b1 int32. Declared sizes are
// checked against the real ones before memory is allocated. Names with '/' are skipped; a name with ".." or a
// leading '/' is refused. Every error names the file and the array; all are usage errors except for an array
// that does not fit in memory.
Outcome<Arrays> read_npz(const std::string& path);

// Writes f32, f64, complex64, complex128 and int32 like numpy.savez, completely or not at all.
std::optional<Error> write_npz(const std::string& path, const Arrays& arrays);

}  // namespace sawtooth

#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

struct InputFile {
    Arrays arrays;
    // Members with '/' in their names, which is how outputs of variants are named.
    std::vector<std::string> skipped;
    std::vector<std::string> notes =
        {};  // "x: 3 numbers are beyond the range of float32 and became infinite"
};

// Limits for reading: a small file may contain large arrays.
struct ReadLimits {
    // Refuses names and shapes of arrays before their data is read; null accepts all.
    std::function<std::optional<Error>(const Arrays& shapes)> check = {};
    std::optional<int64_t> memory_bytes = {};  // the limit for all arrays together; absent: the free memory
    std::stop_token stop = {};
    bool only_shapes = false;  // the arrays get no data
};

// Reads NumPy's .npz: stored and deflated members, ZIP64, .npy 1.0 to 3.0, the dtypes <f2 <f4 <f8 <c8 <c16
// <i4 <i8 |b1, both orders. Floats become f32 (f8 is rounded), complex numbers complex64, i8 and b1 int32.
// Declared sizes are checked against the real ones before memory is allocated. A name with ".." or a leading
// '/' is refused. Every error names the file and the array, and is a usage error unless it is about memory or
// `cancelled`.
Outcome<InputFile> read_npz(const std::string& path, const ReadLimits& limits = {});

// Writes f32, f64, complex64, complex128 and int32 like numpy.savez. The file is complete or unchanged.
std::optional<Error> write_npz(const std::string& path, const Arrays& arrays);

}  // namespace sawtooth

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
    std::vector<std::string> skipped;  // members with '/' in their names, as outputs of variants have them
};

// What reading may cost. A small file may hold large arrays.
struct ReadLimits {
    // Refuses names and shapes of the arrays, which have no data yet; null: accepts all.
    std::function<std::optional<Error>(const Arrays& shapes)> check = {};
    std::optional<int64_t> memory_bytes = {};  // of all arrays; absent: what is free
    std::stop_token stop = {};
    bool only_shapes = false;  // the arrays get no data
};

// NumPy's .npz: stored and deflated members, ZIP64, .npy 1.0 to 3.0, <f2 <f4 <f8 <c8 <c16 <i4 <i8 |b1, both
// orders. Floats become f32 (f8 is rounded), complex numbers complex64, i8 and b1 int32. Declared sizes are
// checked against the real ones before memory is allocated. A name with ".." or a leading '/' is refused.
// Every error names the file and the array; all are usage errors except for memory and cancelled.
Outcome<InputFile> read_npz(const std::string& path, const ReadLimits& limits = {});

// Writes f32, f64, complex64, complex128 and int32 like numpy.savez, completely or not at all.
std::optional<Error> write_npz(const std::string& path, const Arrays& arrays);

}  // namespace sawtooth

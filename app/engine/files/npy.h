#pragma once

#include <string>
#include <string_view>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// The NumPy header in front of an array, defined by numpy/lib/format.py.
struct NpyHeader {
    std::string dtype;  // as NumPy writes it: "<f4"
    bool fortran_order = false;
    Shape shape;
};

// The first eight bytes: a magic word and the version. The header length follows, in 2 bytes, or in 4 from
// version 2.0 on.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

// Parses the dictionary as Python writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
// Usage errors say what is wrong; a shape whose product exceeds 62 bits is refused.
Outcome<NpyHeader> parse_npy_header(std::string_view text);

// The complete header: magic, version 1.0, length and dictionary, padded to a multiple of 64 bytes.
std::string npy_header(const Array& array);

}  // namespace sawtooth

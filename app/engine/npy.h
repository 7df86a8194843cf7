#pragma once

#include <string>
#include <string_view>

#include "kernels/core/array.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// NumPy's header in front of an array: numpy/lib/format.py fixes it.
struct NpyHeader {
    std::string dtype;  // "<f4"
    bool fortran_order = false;
    Shape shape;
};

// The first eight bytes: a magic word and the version. The header's length follows, in 2 bytes or, from 2.0,
// in 4.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

// The dictionary as Python writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Errors are
// of usage and say what is wrong; a shape is refused where its product would not fit 62 bits.
Outcome<NpyHeader> parse_npy_header(std::string_view text);

// Magic, version 1.0, length and dictionary, as long as a multiple of 64 bytes.
std::string npy_header(const Array& array);

}  // namespace sawtooth

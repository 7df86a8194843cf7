#pragma once

#include <cfloat>

namespace sawtooth {

// What a kernel may round, as shares of a value: half the distance between neighbouring numbers.
struct Rounding {
    double arithmetic = 0x1p-24;  // the result of every operation
    double narrow = 0;  // what passes through narrow(): kept in 16 bits, or a factor of tensor cores
    // Of the numbers that narrow() stores, the smallest with all digits, and the largest.
    double least = FLT_MIN, largest = FLT_MAX;
};

}  // namespace sawtooth

#pragma once

#include <cfloat>

namespace sawtooth {

// What a kernel may round, as shares of a value: half the distance between neighbouring numbers.
struct Rounding {
    double arithmetic = 0x1p-24;  // the result of every operation
    double narrow = 0;         // what passes through narrow(): kept in 16 bits, or a factor of tensor cores
    double stored = 0;         // what passes through stored(): kept in 16 bits between launches
    double largest = FLT_MAX;  // of a number that either stores
    double finest = 0;         // half the distance between the smallest of these
};

}  // namespace sawtooth

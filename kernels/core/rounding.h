#pragma once

#include <cfloat>

namespace sawtooth {

// The largest roundings of a kernel, relative to the value: half the distance between neighbouring numbers.
struct Rounding {
    double arithmetic = 0x1p-24;  // rounding of the result of every operation
    double narrow = 0;            // rounding by narrow(): numbers kept in 16 bits, or factors of tensor cores
    double stored = 0;            // rounding by stored(): numbers kept in 16 bits between launches
    double largest = FLT_MAX;     // the largest number that either can hold
    double finest = 0;            // half the distance between the smallest numbers that they hold
    double smallest = FLT_MIN;    // numbers below it may lose digits or become 0

    bool operator==(const Rounding&) const = default;
};

}  // namespace sawtooth

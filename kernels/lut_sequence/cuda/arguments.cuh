// Kernel arguments of the family lut_sequence. Sums are f32, or int64 with integer arithmetic
// (lut_table/cuda/sums.cuh). In comments B is the number of sequences, S of positions, T of detectors, C of
// pairs of inputs per detector, P of bits of a distance. A table has rows = 2^(2C+P); pairs.cuh numbers pairs
// of positions and rows.
#pragma once

#include "kernels/lut_sequence/records.cuh"
#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut_sequence {

using namespace lut_table;

struct Arguments : CommonArguments {
    int64_t sequences, length, pairs;  // pairs: per sequence
    const float* positional;           // [S-1, T, P]
    Found distances;                   // [S-1, T]
    void* dpositional;                 // sums in the variant unfused, otherwise the output
    Events<Event> main = {}, alternative = {};
    float* statistic = nullptr;    // [positions, T 2^(2C+P)]; null: events go to the buffers
    float share = 0;               // what an alternative event adds to the statistic
    HashEntry* hash = nullptr;     // [B, width]
    int32_t* hash_high = nullptr;  // the high words of integer sums
    int64_t width = 0;
    void *du = nullptr, *positional_du = nullptr;  // [B, pairs, T]
};

}  // namespace sawtooth::lut_sequence

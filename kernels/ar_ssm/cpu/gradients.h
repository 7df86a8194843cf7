#pragma once

#include "kernels/ar_ssm/cpu/job.h"

namespace sawtooth::ar_ssm {

// What `add_terms` needs for a tile, for blocks of at most `rows` x `columns` of the gradient.
struct TermRooms {
    float *left, *right;
    Neighbours* neighbours;  // of every token; null unless they are multiplied

    TermRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& gradient, int64_t rows,
              int64_t columns);
};

// Adds the terms of a tile of tokens for a block of the gradient, [rows, padded columns].
void add_terms(const CpuJob& job, const WeightGradient& gradient, Range tokens, Range rows, Range columns,
               const TermRooms& rooms, float* sums);
// Writes such a block to the output, or adds it.
void put_sums(const WeightGradient& gradient, const float* sums, Range rows, Range columns);

}  // namespace sawtooth::ar_ssm

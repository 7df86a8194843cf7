#pragma once

#include "kernels/ar_ssm/cpu/job.h"

namespace sawtooth::ar_ssm {

// The scratch of `add_terms`, for tiles of at most `rows` x `columns` of the gradient.
struct TermRooms {
    float *left, *right;
    Neighbours* neighbours;  // those of every token; null unless the gradient takes them

    TermRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& gradient, int64_t rows,
              int64_t columns);
};

// Adds the terms of the given tokens to `sums`, a tile [rows, padded columns] of the gradient.
void add_terms(const CpuJob& job, const WeightGradient& gradient, Range tokens, Range rows, Range columns,
               const TermRooms& rooms, float* sums);
// Writes such a tile to the output, or adds it to the output.
void put_sums(const WeightGradient& gradient, const float* sums, Range rows, Range columns);

}  // namespace sawtooth::ar_ssm

#pragma once

#include <vector>

#include "kernels/ar_ssm/cpu/job.h"

namespace sawtooth::ar_ssm {

// The rows from which the gradients of weights are summed.
struct GradientRows {
    Buffer hidden, dhidden, dlogits, dprojected_u, dprojected_v, w;
};

struct TermRooms;

// The gradient of one weight: scale times the sum over all tokens of the products of a number of `left` and
// one of `right`. That of conv has a row per tap, and multiplies the neighbours in `right`.
struct WeightGradient {
    const char* weight;
    TokenArray left;  // without values for a bias: ones
    TokenArray right;
    int64_t rows, columns;
    float scale;
    float* to;                      // the output
    int64_t row_step, column_step;  // of `to`
    bool of_neighbours = false;
    bool of_w = false;  // `left` is w, of which each direction has its own

    // Adds the terms of a tile of tokens for a block of the gradient, [rows, padded columns].
    void add(const CpuJob& job, Range tokens, Range of_rows, Range of_columns, const TermRooms& rooms,
             float* sums) const;
    // Writes such a block to the output, or adds it.
    void put(const float* sums, Range of_rows, Range of_columns, bool adds) const;
};

// What `add` needs for the terms of a tile, for blocks of at most `rows` x `columns`.
struct TermRooms {
    float *left, *right;
    Neighbours* neighbours;  // of every token; null unless they are multiplied

    TermRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& of, int64_t rows,
              int64_t columns);
};

// In the order of their launches.
std::vector<WeightGradient> weight_gradients(cpu::PlanBuilder& builder, const CpuJob& job,
                                             const GradientRows& from);

}  // namespace sawtooth::ar_ssm

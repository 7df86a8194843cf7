#pragma once

#include <cstdint>
#include <span>

namespace sawtooth::ar_ssm {

// Vectorised functions of rows. Rows are padded to a multiple of 16 numbers, and `count` includes the padding
// unless stated otherwise.

// row += bias. Returns the smallest and the largest magnitude of the first `count` numbers.
struct Magnitudes {
    float least = 0, largest = 0;
};
Magnitudes add_bias(float* row, const float* bias, int64_t count);
void relu(float* row, int64_t count);  // NaN stays NaN
void keep_where_positive(float* row, const float* by, int64_t count);

// The row of a position and its neighbours; null outside the sequence.
struct Neighbours {
    const float* rows[3] = {};
};
// to = bias + the sum of taps [3, count] times neighbours. A null bias counts as 0.
void convolve(const Neighbours& from, const float* taps, const float* bias, int64_t count, float* to);
// gradients [3, count] += the sum over positions of neighbours times dt, whose rows are `stride` apart.
void add_tap_gradients(std::span<const Neighbours> from, const float* dt, int64_t stride, int64_t count,
                       float* gradients);

// The rows that gate_gradients works on: it computes the gradients of pu, pv and the logits from those of u =
// pu g and v = pv g. `slopes` are the derivatives of the gates by the logits.
struct GateGradients {
    const float *du = nullptr, *dv = nullptr, *gates = nullptr, *slopes = nullptr;
    const float *projected_u = nullptr, *projected_v = nullptr;
    float *dprojected_u = nullptr, *dprojected_v = nullptr, *dlogits = nullptr;
};
void gate_gradients(const GateGradients& rows, int64_t count);

// to [16] = row [inner] times a strip [inner, 16], in f64.
void multiply_in_double(const float* row, int64_t inner, const float* strip, double* to);

}  // namespace sawtooth::ar_ssm

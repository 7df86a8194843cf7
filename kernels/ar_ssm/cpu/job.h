#pragma once

#include "kernels/ar_ssm/cpu/rows.h"
#include "kernels/ar_ssm/cpu/tokens.h"
#include "kernels/ar_ssm/sizes.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::ar_ssm {

// A weight as the right factor of products: strips [strips of columns, inner, 16], zero-padded. Strips are
// the layout in which a layer would store its weights, so they are made once, with the plan.
struct Factor {
    const float* strips = nullptr;
    int64_t inner = 0, columns = 0;

    // to [rows, padded columns] = left times it, or += it.
    void multiply(const Rows& left, int64_t rows, const Buffer& to, cpu::Into into = cpu::Into::set) const;
};

struct DoubleRooms;
struct AroundRooms;

// What the variants on the CPU work on. They compute in f32. Rows between launches are padded to a multiple
// of 16 numbers: those of ranks to rank_stride(), of hidden units to hidden_stride(), of channels to
// width_stride(). Padding never mixes with other numbers.
struct CpuJob : Sizes {
    // `output_scale` is in the taps and out_proj of the forward pass.
    CpuJob(cpu::PlanBuilder& builder, float output_scale);

    int64_t rank_stride() const { return cpu::padded(rank); }
    int64_t hidden_stride() const { return cpu::padded(hidden); }
    int64_t width_stride() const { return cpu::padded(width); }

    // Steps on rows of some tokens.

    // rows: from W1 x to the hidden layer.
    void activate_hidden(Range tokens, const Buffer& rows, const DoubleRooms& rooms) const;
    // rows: from W2 hidden to gates, which are stored too. `slopes`, their derivatives by the logits, may be
    // null.
    void open_gates(Range tokens, float* rows, float* slopes, const DoubleRooms& rooms) const;
    void sum_gates(Range tokens, const float* rows) const;
    // to = bias + the convolution with taps [3, width_stride()], from x or dy.
    void convolve_tokens(const TokenArray& from, Range tokens, const float* taps, const float* bias,
                         const AroundRooms& rooms, float* to) const;

    TokenArray x, dy;
    TokenOutput y, gates, dx;
    float* effective_rank;

    // All have D as inner dimension; `projections` is [W1; U; V], whose parts start at multiples of 16.
    Factor projections, gate_w1, u_proj, v_proj;
    Factor gate_w2, out_proj;
    const float *gate_b1, *gate_b2, *out_bias, *zeros;
    const float* taps;  // [3, width_stride()]
    // Of the backward pass; scale() is in those that dy is multiplied with.
    Factor gate_w1_back, u_proj_back, v_proj_back, gate_w2_back, out_proj_back;
    const float* taps_back;

  private:
    void open_hard_gates(Range tokens, float* rows, const DoubleRooms& rooms) const;
    // A hidden unit before its relu; the hidden layer of a token, into the rooms, and a logit from it.
    double unit_in_double(int64_t token, int64_t unit, const DoubleRooms& rooms) const;
    void hidden_in_double(int64_t token, const DoubleRooms& rooms) const;
    double logit_in_double(const double* units, int64_t of_rank) const;
};

// Rows of some tokens with those of their neighbours in the sequence.
class Surroundings {
  public:
    static constexpr int64_t beside = 2;  // at most this many tokens are loaded besides

    Surroundings(const CpuJob& job, const TokenArray& array, Range tokens, Range columns, float* room);
    Neighbours of(int64_t token) const;

  private:
    int64_t length_;
    Range around_;
    Rows rows_;
};

// How many positions the variants compute at once: their rows of channels stay in the L2 cache.
int64_t tile_of(const CpuJob& job);
// The most that there are in a tile, also of a short sequence.
int64_t most_tokens_a_tile(const CpuJob& job);

// For numbers that are computed again in double precision: a row of x, and the hidden layer of one token.
struct DoubleRooms {
    float* x;
    double* units;  // null unless gates are hard

    DoubleRooms(cpu::Scratch& scratch, const CpuJob& job);
};

// For the rows of a tile of x or dy, which are stored alike, and its neighbours.
struct AroundRooms {
    float* rows;

    AroundRooms(cpu::Scratch& scratch, const CpuJob& job);
};

}  // namespace sawtooth::ar_ssm

#pragma once

#include <algorithm>

#include "kernels/ar_ssm/cpu/rows.h"
#include "kernels/ar_ssm/cpu/tokens.h"
#include "kernels/ar_ssm/tensors.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::ar_ssm {

// A weight as the right factor of products: strips [strips of columns, inner, 16], zero-padded. Strips are
// the layout in which a layer would store its weights, so they are made once, with the plan.
struct Factor {
    float* strips = nullptr;
    int64_t inner = 0, columns = 0;

    // to [rows, padded columns] = left times it, or += it.
    void multiply(const Rows& left, int64_t rows, const Rows& to, cpu::Into into = cpu::Into::set) const;
};

struct DoubleRooms;
struct AroundRooms;

// What the variants on the CPU work on. They compute in f32. Padding of rows never mixes with other numbers.
// The addresses in `weight` and `back` are those of packed copies: strips of factors, padded biases, and taps
// as [3, padded width]. scale() is in those that dy is multiplied with, and for fused in the taps and in
// out_proj.
struct CpuJob : Tensors {
    CpuJob(cpu::PlanBuilder& builder, bool fused);

    int64_t rank_stride() const { return cpu::padded(rank); }
    int64_t hidden_stride() const { return cpu::padded(hidden); }
    int64_t width_stride() const { return cpu::padded(width); }
    // The rows of channels of a tile stay in the L2 cache. A short sequence has fewer.
    int64_t most_tokens_a_tile() const { return std::min(tile, tokens()); }

    // Steps on rows of some tokens.

    // rows: from W1 x to the hidden layer.
    void activate_hidden(Range tokens, const Rows& rows, const DoubleRooms& rooms) const;
    // rows: from W2 hidden to gates, which are stored too, and their slopes if there is a backward pass.
    void open_gates(Range tokens, float* rows, const DoubleRooms& rooms) const;
    void sum_gates(Range tokens, const float* rows) const;
    // to = the convolution of x or dy with taps, plus a bias unless it is null.
    void convolve_tokens(const Buffer& from, Range tokens, const Buffer& taps, const float* bias,
                         const AroundRooms& rooms, float* to) const;

    // From du and dv to the gradients of projected_u, projected_v and the logits.
    void differentiate_gates(Range tokens, const Rows& du) const;
    void differentiate_hidden(Range tokens) const;  // from dlogits

    // All have D as inner dimension; `projections` is [W1; U; V], whose parts start at multiples of 16.
    Factor projections, gate_w1, u_proj, v_proj;
    Factor gate_w2, out_proj;
    Factor gate_w1_back, u_proj_back, v_proj_back, gate_w2_back, out_proj_back;

  private:
    void open_hard_gates(Range tokens, float* rows, const DoubleRooms& rooms) const;
    // A hidden unit before its relu; the hidden layer of a token, into the rooms, and a logit from it.
    double unit_in_double(int64_t token, int64_t unit, const DoubleRooms& rooms) const;
    void hidden_in_double(int64_t token, const DoubleRooms& rooms) const;
    double logit_in_double(const double* units, int64_t gate) const;
};

// Rows of some tokens with those of their neighbours in the sequence.
class Surroundings {
  public:
    static constexpr int64_t beside = 2;  // at most this many tokens are loaded besides

    Surroundings(const CpuJob& job, const Buffer& array, Range tokens, Range columns, float* room);
    Neighbours neighbours_of(int64_t token) const;

  private:
    int64_t length_;
    Range around_;
    Rows rows_;
};

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

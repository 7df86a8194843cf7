#pragma once

#include <algorithm>

#include "kernels/ar_ssm/cpu/rows.h"
#include "kernels/ar_ssm/cpu/tokens.h"
#include "kernels/ar_ssm/tensors.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::ar_ssm {

// A weight as the right factor of products, in zero-padded strips of 16 columns: [strips, inner, 16]. A layer
// would store its weights in this layout, so they are packed once, with the plan.
struct Factor {
    float* strips = nullptr;
    int64_t inner = 0, columns = 0;

    // to [rows, padded columns] = left times this factor; with Into::add, += it.
    void multiply(const Rows& left, int64_t rows, const Rows& to, cpu::Into into = cpu::Into::set) const;
};

struct DoubleRooms;
struct AroundRooms;

// What the variants on the CPU work on. They compute in f32. Padding of rows never mixes with other numbers.
// `weight` and `back` refer to packed copies: strips of factors, padded biases, and taps [3, padded width].
// The copies that dy is multiplied by include scale(); so do the taps and out_proj of fused.
struct CpuJob : Tensors {
    CpuJob(cpu::PlanBuilder& builder, bool fused);

    int64_t rank_stride() const { return cpu::padded(rank); }
    int64_t hidden_stride() const { return cpu::padded(hidden); }
    int64_t width_stride() const { return cpu::padded(width); }
    // The most tokens of a tile. Their rows of channels stay in the L2 cache.
    int64_t most_tokens_a_tile() const { return std::min(tile, tokens()); }

    // The steps of the layer, for the rows of some tokens.

    // Turns rows of W1 x into the hidden layer.
    void activate_hidden(Range tokens, const Rows& rows, const DoubleRooms& rooms) const;
    // Turns rows of W2 hidden into gates, and stores the gates. For a backward pass it also stores their
    // slopes.
    void open_gates(Range tokens, float* rows, const DoubleRooms& rooms) const;
    void sum_gates(Range tokens, const float* rows) const;
    // to = the convolution of x or dy with taps, plus a bias unless it is null.
    void convolve_tokens(const Buffer& from, Range tokens, const Buffer& taps, const float* bias,
                         const AroundRooms& rooms, float* to) const;

    // Computes the gradients of projected_u, projected_v and the logits from du and dv.
    void differentiate_gates(Range tokens, const Rows& du) const;
    void differentiate_hidden(Range tokens) const;  // computes dhidden from dlogits

    // The inner dimension of these is `width`. `projections` is [W1; U; V], each padded to a multiple of 16.
    Factor projections, gate_w1, u_proj, v_proj;
    Factor gate_w2, out_proj;
    Factor gate_w1_back, u_proj_back, v_proj_back, gate_w2_back, out_proj_back;

  private:
    // Turns the logits of some tokens into those of gumbel gates.
    void disturb_logits(Range tokens, float* rows) const;
    void open_hard_gates(Range tokens, float* rows, const DoubleRooms& rooms) const;
    // In double precision: a hidden unit before its relu, the hidden layer of a token (into `rooms`), and a
    // logit.
    double unit_in_double(int64_t token, int64_t unit, const DoubleRooms& rooms) const;
    void hidden_in_double(int64_t token, const DoubleRooms& rooms) const;
    double logit_in_double(const double* units, int64_t gate) const;
};

// The rows of some tokens and of their neighbours in the sequence.
class Surroundings {
  public:
    static constexpr int64_t beside = 2;  // at most this many more tokens are loaded

    Surroundings(const CpuJob& job, const Buffer& array, Range tokens, Range columns, float* room);
    Neighbours neighbours_of(int64_t token) const;

  private:
    int64_t length_;
    Range around_;
    Rows rows_;
};

// Scratch for numbers that are computed again in double precision: a row of x, and the hidden layer of a
// token.
struct DoubleRooms {
    float* x;
    double* units;  // null unless gates are hard

    DoubleRooms(cpu::Scratch& scratch, const CpuJob& job);
};

// Scratch for the rows of a tile of x or dy, which have the same storage, and of its neighbours.
struct AroundRooms {
    float* rows;

    AroundRooms(cpu::Scratch& scratch, const CpuJob& job);
};

}  // namespace sawtooth::ar_ssm

#pragma once

#include <span>

#include "kernels/btp/cpu/products.h"
#include "kernels/btp/tensors.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::btp {

// The scratch memory for one block. Values are [channels, pitch].
struct BlockRooms {
    int64_t pitch;
    float *matrix, *gates, *da;
    float* products;     // a_0 … a_{i-1}; 0 past the block
    float *u, *spare_x;  // x after one spare line, so that the number before x can be read
    float *dx, *r, *w;   // only for the backward pass

    BlockRooms(cpu::Scratch& scratch, const Tensors& job);
};

// The work on one block of one head. Rooms hold one block at a time. Carries and their gradients have one
// number per channel.
class Block {
  public:
    Block(const Tensors& job, const BlockRooms& rooms, int64_t head, int64_t index);

    float decay() const;  // the product of all gates
    // Adds decay times `from` to `to`, for every channel.
    void decay_into(const float* from, float* to) const;

    void solve();                       // x = Lmat u
    void last_value(float* to);         // to = x at the last position, without computing the others
    void solved_last(float* to) const;  // to = x at the last position, after solve()
    void load_x();
    void add_carry(const float* carry);  // x_i += a_0 … a_i c
    void store_x() const;

    // to = the gradient of the carry without what later blocks add: the sum of a_0 … a_i dx_i.
    void carry_gradient(float* to);
    // Writes da and du, from the carry into this block and the gradient of the carry into the next one, which
    // may be null.
    void differentiate(const float* carry, const float* next_gradient);

  private:
    void solve_from(int64_t first);
    float* x() const;
    std::span<const float> gates() const;
    void load(const Buffer& from, float* to) const;
    void store(const float* from, const Buffer& to) const;

    const Tensors& job_;
    const BlockRooms& rooms_;
    int64_t head_;
    Range positions_;
    int64_t count_;  // number of positions
    BlockShape shape_;
};

}  // namespace sawtooth::btp

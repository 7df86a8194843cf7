#pragma once

#include <span>

#include "kernels/btp/cpu/job.h"

namespace sawtooth::btp {

// One block of one head in the scratch of this thread, which holds one block at a time. Carries and their
// gradients have one number per channel.
class Block {
  public:
    Block(const CpuJob& job, int64_t head, int64_t index);

    float decay() const;  // the product of all gates
    // to += decay times from, for every channel.
    void decay_into(const float* from, float* to) const;

    void solve();                       // x = Lmat u
    void last_value(float* to);         // the same for the last position alone
    void solved_last(float* to) const;  // of x
    void load_x();
    void add_carry(const float* carry);  // x_i += a_0 … a_i c
    void store_x() const;

    // The gradient of the carry without that of later blocks: the sum of a_0 … a_i dx_i.
    void carry_gradient(float* to);
    // Writes da and du, from the carry into this block and the gradient of the carry into the next one, which
    // may be null.
    void differentiate(const float* carry, const float* next_gradient);

  private:
    void solve_from(int64_t first);
    std::span<const float> gates() const;
    void load(const void* from, float* to) const;
    void store(const float* from, void* to) const;

    struct Scratch;
    static Scratch& scratch_of_thread();

    const CpuJob& job_;
    Scratch& scratch_;
    int64_t head_;
    Range positions_;
    int64_t count_;  // of positions
};

}  // namespace sawtooth::btp

#include "kernels/btp/cpu/block.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/btp/cpu/products.h"
#include "kernels/btp/cpu/transfer.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::btp {

// Of one block. Values are [channels, pitch].
struct Block::Scratch {
    alignas(64) float matrix[pitch * pitch], gates[pitch], da[pitch];
    alignas(64) float products[pitch + 1];  // a_0 … a_{i-1}; 0 past the block
    std::vector<float> u, x, dx, r, w;
};

Block::Scratch& Block::scratch_of_thread() {
    thread_local Scratch scratch;
    return scratch;
}

namespace {

// One line more than there are channels, so that the number before the first one can be read.
float* values(std::vector<float>& of, int64_t channels) {
    return cpu::at_least(of, (channels + 1) * pitch) + pitch;
}

}  // namespace

Block::Block(const CpuJob& job, int64_t head, int64_t index)
    : job_(job),
      scratch_(scratch_of_thread()),
      head_(head),
      positions_(job.positions(index)),
      count_(positions_.count()) {
    job.read(job.a, job.gate_at(head, positions_.first), count_, scratch_.gates);
    float product = 1;
    for (int64_t i = 0; i < count_; ++i) {
        scratch_.products[i] = product;
        product *= scratch_.gates[i];
        if (std::abs(product) < 0x1p-126f) product = 0;  // subnormal factors are slow
    }
    scratch_.products[count_] = product;
    std::fill(scratch_.products + count_ + 1, std::end(scratch_.products), 0.0f);
}

float Block::decay() const { return scratch_.products[count_]; }

void Block::decay_into(const float* from, float* to) const {
    for (int64_t c = 0; c < job_.width; ++c) to[c] += decay() * from[c];
}

void Block::solve_from(int64_t first) {
    float* const u = values(scratch_.u, job_.width);
    load(job_.u, u);
    fill_columns(job_.construction, gates(), first, scratch_.matrix);
    multiply(scratch_.matrix, u, job_.width, first, count_, values(scratch_.x, job_.width));
}

void Block::solve() { solve_from(0); }

void Block::last_value(float* to) {
    solve_from((count_ - 1) / cpu::lanes * cpu::lanes);
    solved_last(to);
}

void Block::solved_last(float* to) const {
    const float* const x = values(scratch_.x, job_.width);
    for (int64_t c = 0; c < job_.width; ++c) to[c] = x[c * pitch + count_ - 1];
}

void Block::load_x() { load(job_.x, values(scratch_.x, job_.width)); }

void Block::store_x() const { store(values(scratch_.x, job_.width), job_.x); }

void Block::add_carry(const float* carry) {
    add_outer(scratch_.products + 1, carry, job_.width, count_, values(scratch_.x, job_.width));
}

void Block::carry_gradient(float* to) {
    float* const dx = values(scratch_.dx, job_.width);
    load(job_.dx, dx);
    multiply_line(scratch_.products + 1, dx, job_.width, count_, to);
}

// z_i = a_0 … a_i c; v = Lmat u; r = Lmat^T dx; w = r + dc times the last row of Lmat.
void Block::differentiate(const float* carry, const float* next_gradient) {
    const int64_t channels = job_.width;
    float *const u = values(scratch_.u, channels), *const v = values(scratch_.x, channels);
    float *const dx = values(scratch_.dx, channels), *const r = values(scratch_.r, channels);
    load(job_.u, u);
    load(job_.dx, dx);
    fill_columns(Construction::masked_cumprod, gates(), 0, scratch_.matrix);
    multiply(scratch_.matrix, u, channels, 0, count_, v);
    fill_rows(gates(), scratch_.matrix);
    multiply_transposed(scratch_.matrix, dx, channels, count_, r);
    float* w = r;
    if (next_gradient) {
        w = values(scratch_.w, channels);
        std::copy_n(r, channels * pitch, w);
        add_outer(scratch_.matrix + (count_ - 1) * pitch, next_gradient, channels, count_, w);
    }
    multiply_neighbours(w, v, channels, count_, scratch_.da);
    if (job_.order != Order::one)
        add_outer_products(job_.order == Order::full ? w : r, scratch_.products, carry, channels, count_,
                           scratch_.da);
    store(w, job_.du);
    std::copy_n(scratch_.da, count_, job_.da + job_.gate_at(head_, positions_.first));
}

std::span<const float> Block::gates() const { return {scratch_.gates, static_cast<size_t>(count_)}; }

void Block::load(const void* from, float* to) const {
    // Channels lie far apart, and a block is too short for the processor to see that it walks along them.
    const int64_t soon = std::min(positions_.first + 2 * pitch, job_.length);
    const int64_t more = std::min(count_, job_.length - soon);
    for (int64_t c = 0; c < job_.width; ++c, to += pitch) {
        job_.prefetch(from, job_.value_at(head_, c, soon), more);
        job_.read(from, job_.value_at(head_, c, positions_.first), count_, to);
        std::fill(to + count_, to + cpu::padded(count_), 0.0f);
    }
}

void Block::store(const float* from, void* to) const {
    for (int64_t c = 0; c < job_.width; ++c, from += pitch)
        job_.write(from, count_, to, job_.value_at(head_, c, positions_.first));
}

}  // namespace sawtooth::btp

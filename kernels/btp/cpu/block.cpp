#include "kernels/btp/cpu/block.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/btp/cpu/products.h"
#include "kernels/btp/cpu/transfer.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/products.h"

namespace sawtooth::btp {
namespace {

// Asks the processor to fetch numbers that are read soon.
void prefetch(const Buffer& from, int64_t at, int64_t count) {
    constexpr int64_t line = 64;
    const auto* const bytes = static_cast<const char*>(from.address) + at * from.element_bytes;
    for (int64_t i = 0; i < count * from.element_bytes; i += line) __builtin_prefetch(bytes + i, 0, 2);
}

}  // namespace

BlockRooms::BlockRooms(cpu::Scratch& scratch, const Tensors& job)
    : pitch(pitch_of(job.block)),
      matrix(scratch.take<float>(pitch * pitch)),
      gates(scratch.take<float>(pitch)),
      da(scratch.take<float>(pitch)),
      products(scratch.take<float>(pitch + 1)),
      u(scratch.take<float>(job.width * pitch)),
      spare_x(scratch.take<float>((job.width + 1) * pitch)),
      dx(scratch.take<float>(job.da ? job.width * pitch : 0)),
      r(scratch.take<float>(job.da ? job.width * pitch : 0)),
      w(scratch.take<float>(job.da ? job.width * pitch : 0)) {}

Block::Block(const Tensors& job, const BlockRooms& rooms, int64_t head, int64_t index)
    : job_(job),
      rooms_(rooms),
      head_(head),
      positions_(job.positions(index)),
      count_(positions_.count()),
      shape_{job.width, count_, rooms.pitch} {
    cpu::read(job.a, job.gate_at(head, positions_.first), count_, rooms_.gates);
    float product = 1;
    for (int64_t i = 0; i < count_; ++i) {
        rooms_.products[i] = product;
        product *= rooms_.gates[i];
        if (std::abs(product) < 0x1p-126f) product = 0;  // subnormal factors are slow
    }
    rooms_.products[count_] = product;
    std::fill(rooms_.products + count_ + 1, rooms_.products + rooms_.pitch + 1, 0.0f);
}

float Block::decay() const { return rooms_.products[count_]; }

void Block::decay_into(const float* from, float* to) const {
    for (int64_t c = 0; c < job_.width; ++c) to[c] += decay() * from[c];
}

void Block::solve_from(int64_t first) {
    load(job_.u, rooms_.u);
    fill_columns(job_.construction, gates(), rooms_.pitch, first, rooms_.matrix);
    multiply(rooms_.matrix, rooms_.u, shape_, first, x());
}

void Block::solve() { solve_from(0); }

void Block::last_value(float* to) {
    solve_from((count_ - 1) / cpu::lanes * cpu::lanes);
    solved_last(to);
}

void Block::solved_last(float* to) const {
    for (int64_t c = 0; c < job_.width; ++c) to[c] = x()[c * rooms_.pitch + count_ - 1];
}

void Block::load_x() { load(job_.x, x()); }

void Block::store_x() const { store(x(), job_.x); }

void Block::add_carry(const float* carry) { add_outer(rooms_.products + 1, carry, shape_, x()); }

void Block::carry_gradient(float* to) {
    load(job_.dx, rooms_.dx);
    multiply_line(rooms_.products + 1, rooms_.dx, shape_, to);
}

// Computes z_i = a_0 … a_i c, v = Lmat u, r = Lmat^T dx, and w = r + dc times the last row of Lmat.
void Block::differentiate(const float* carry, const float* next_gradient) {
    const int64_t pitch = rooms_.pitch;
    float *const v = x(), *const r = rooms_.r;
    load(job_.u, rooms_.u);
    load(job_.dx, rooms_.dx);
    fill_columns(Construction::masked_cumprod, gates(), pitch, 0, rooms_.matrix);
    multiply(rooms_.matrix, rooms_.u, shape_, 0, v);
    fill_rows(gates(), pitch, rooms_.matrix);
    multiply_transposed(rooms_.matrix, rooms_.dx, shape_, r);
    float* w = r;
    if (next_gradient) {
        w = rooms_.w;
        std::copy_n(r, job_.width * pitch, w);
        add_outer(rooms_.matrix + (count_ - 1) * pitch, next_gradient, shape_, w);
    }
    multiply_neighbours(w, v, shape_, rooms_.da);
    if (job_.order != Order::one)
        add_outer_products(job_.order == Order::full ? w : r, rooms_.products, carry, shape_, rooms_.da);
    store(w, job_.du);
    std::copy_n(rooms_.da, count_,
                job_.da_of_sequences.as<float>() + job_.gate_gradient_at(head_, positions_.first));
}

float* Block::x() const { return rooms_.spare_x + rooms_.pitch; }

std::span<const float> Block::gates() const { return {rooms_.gates, static_cast<size_t>(count_)}; }

void Block::load(const Buffer& from, float* to) const {
    // Channels lie far apart, and a block is too short for the processor to see that it walks along them.
    const int64_t pitch = rooms_.pitch;
    const int64_t soon = std::min(positions_.first + 2 * pitch, job_.length);
    const int64_t more = std::min(count_, job_.length - soon);
    for (int64_t c = 0; c < job_.width; ++c, to += pitch) {
        prefetch(from, job_.value_at(head_, c, soon), more);
        cpu::read(from, job_.value_at(head_, c, positions_.first), count_, to);
        std::fill(to + count_, to + cpu::padded(count_), 0.0f);
    }
}

void Block::store(const float* from, const Buffer& to) const {
    for (int64_t c = 0; c < job_.width; ++c, from += rooms_.pitch)
        cpu::write(from, count_, to, job_.value_at(head_, c, positions_.first));
}

}  // namespace sawtooth::btp

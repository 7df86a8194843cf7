#include "kernels/ar_ssm/cpu/gradients.h"

#include <algorithm>

namespace sawtooth::ar_ssm {

TermRooms::TermRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& gradient, int64_t rows,
                     int64_t columns) {
    const bool beside = gradient.takes_neighbours;
    const int64_t tokens = job.most_tokens_a_tile(), across = std::min(columns, gradient.columns());
    const int64_t down = std::min(rows, gradient.rows());
    left = gradient.left ? take_room(scratch, gradient.left, tokens, beside ? across : down) : nullptr;
    right = take_room(scratch, gradient.right, tokens + (beside ? Surroundings::beside : 0), across);
    neighbours = beside ? scratch.take<Neighbours>(tokens) : nullptr;
}

void add_terms(const CpuJob& job, const WeightGradient& gradient, Range tokens, Range rows, Range columns,
               const TermRooms& rooms, float* sums) {
    const int64_t stride = cpu::padded(columns.count());
    if (gradient.takes_neighbours) {
        const Surroundings around(job, gradient.right, tokens, columns, rooms.right);
        for (int64_t i = 0; i < tokens.count(); ++i)
            rooms.neighbours[i] = around.neighbours_of(tokens.first + i);
        const Rows dt = load(gradient.left, tokens, columns, rooms.left);
        const std::span from(rooms.neighbours, static_cast<size_t>(tokens.count()));
        return add_tap_gradients(from, dt.values, dt.stride, stride, sums);
    }
    constexpr float one = 1;
    const Rows from = load(gradient.right, tokens, columns, rooms.right);
    cpu::Left factor = {&one, 0, 0};
    if (gradient.left) {
        const Rows left = load(gradient.left, tokens, rows, rooms.left);
        factor = {left.values, 1, left.stride};
    }
    cpu::multiply({.left = factor,
                   .right = {from.values, from.stride, cpu::lanes},
                   .target = {sums, stride, cpu::lanes},
                   .rows = rows.count(),
                   .inner = tokens.count(),
                   .blocks = cpu::strips_of(columns.count()),
                   .into = cpu::Into::add});
}

void put_sums(const WeightGradient& gradient, const float* sums, Range rows, Range columns) {
    float* const to = gradient.to.as<float>();
    const int64_t row_step = gradient.transposed ? 1 : gradient.columns();
    const int64_t column_step = gradient.transposed ? gradient.rows() : 1;
    const int64_t stride = cpu::padded(columns.count());
    for (int64_t r = rows.first; r < rows.last; ++r, sums += stride)
        for (int64_t c = columns.first; c < columns.last; ++c) {
            float& number = to[r * row_step + c * column_step];
            number = gradient.scale * sums[c - columns.first] + (gradient.adds ? number : 0);
        }
}

}  // namespace sawtooth::ar_ssm

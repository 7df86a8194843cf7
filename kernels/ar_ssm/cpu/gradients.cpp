#include "kernels/ar_ssm/cpu/gradients.h"

#include <algorithm>
#include <string>

namespace sawtooth::ar_ssm {

TermRooms::TermRooms(cpu::Scratch& scratch, const CpuJob& job, const WeightGradient& of, int64_t rows,
                     int64_t columns) {
    const int64_t tokens = most_tokens_a_tile(job), beside = of.of_neighbours ? Surroundings::beside : 0;
    const int64_t across = std::min(columns, of.columns);
    left = of.left.take_room(scratch, tokens, of.of_neighbours ? across : std::min(rows, of.rows));
    right = of.right.take_room(scratch, tokens + beside, across);
    neighbours = of.of_neighbours ? scratch.take<Neighbours>(tokens) : nullptr;
}

void WeightGradient::add(const CpuJob& job, Range tokens, Range of_rows, Range of_columns,
                         const TermRooms& rooms, float* sums) const {
    const int64_t stride = cpu::padded(of_columns.count());
    if (of_neighbours) {
        const Surroundings around(job, right, tokens, of_columns, rooms.right);
        for (int64_t i = 0; i < tokens.count(); ++i) rooms.neighbours[i] = around.of(tokens.first + i);
        const Rows dt = left.load(tokens, of_columns, rooms.left);
        const std::span from(rooms.neighbours, static_cast<size_t>(tokens.count()));
        return add_tap_gradients(from, dt.values, dt.stride, stride, sums);
    }
    constexpr float one = 1;
    const Rows from = right.load(tokens, of_columns, rooms.right);
    cpu::Left factor = {&one, 0, 0};
    if (left.values) {
        const Rows rows = left.load(tokens, of_rows, rooms.left);
        factor = {rows.values, 1, rows.stride};
    }
    cpu::multiply({.left = factor,
                   .right = {from.values, from.stride, cpu::lanes},
                   .target = {sums, stride, cpu::lanes},
                   .rows = of_rows.count(),
                   .inner = tokens.count(),
                   .blocks = cpu::strips_of(of_columns.count()),
                   .into = cpu::Into::add});
}

void WeightGradient::put(const float* sums, Range of_rows, Range of_columns, bool adds) const {
    const int64_t stride = cpu::padded(of_columns.count());
    for (int64_t r = of_rows.first; r < of_rows.last; ++r, sums += stride)
        for (int64_t c = of_columns.first; c < of_columns.last; ++c) {
            float& number = to[r * row_step + c * column_step];
            number = scale * sums[c - of_columns.first] + (adds ? number : 0);
        }
}

std::vector<WeightGradient> weight_gradients(cpu::PlanBuilder& builder, const CpuJob& job,
                                             const GradientRows& from) {
    const int64_t channels = job.width, units = job.hidden, ranks = job.rank;
    const TokenArray ones = {};
    std::vector<WeightGradient> all;
    const auto add = [&](const char* weight, const TokenArray& left, const TokenArray& right, int64_t rows,
                         int64_t columns) {
        auto* const to = builder.output(std::string("d") + weight).as<float>();
        all.push_back({weight, left, right, rows, columns, 1, to, columns, 1});
    };
    // A weight that is stored with its columns first; the gradient of the scaled output is dy.
    const auto add_transposed = [&](const char* weight, const TokenArray& left, const TokenArray& right,
                                    int64_t rows, int64_t columns) {
        add(weight, left, right, rows, columns);
        all.back().scale = job.scale();
        all.back().row_step = 1;
        all.back().column_step = rows;
    };
    add_transposed("conv", job.dy, job.x, 3, channels);
    all.back().of_neighbours = true;
    add("gate_w1", from.dhidden.array(), job.x, units, channels);
    add("gate_b1", ones, from.dhidden.array(), 1, units);
    add("gate_w2", from.dlogits.array(), from.hidden.array(), ranks, units);
    add("gate_b2", ones, from.dlogits.array(), 1, ranks);
    add("u_proj", from.dprojected_u.array(), job.x, ranks, channels);
    add("v_proj", from.dprojected_v.array(), job.x, ranks, channels);
    add_transposed("out_proj", from.w.array(), job.dy, ranks, channels);
    all.back().of_w = true;
    add("out_bias", ones, job.dy, 1, channels);
    return all;
}

}  // namespace sawtooth::ar_ssm

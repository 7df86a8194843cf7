// What the backward pass has besides its scan, which gives g; in steps of the forward scan. An item processes
// a block of positions, row by row.

#include "kernels/scan/cpu/gradients.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"
#include "kernels/scan/cpu/tiles.h"

namespace sawtooth::scan {
namespace {

using cpu::Item;

constexpr int64_t positions_an_item = 256;

Side row_blocks(const Job& job) { return side("B", job.batch) * pieces("L", job.length, positions_an_item); }

template <class Row>
void each_row(const Job& job, const Item& item, Row&& row) {
    const int64_t blocks = ceil_divide(job.length, positions_an_item);
    const int64_t batch = item.index / blocks, first = item.index % blocks * positions_an_item;
    const int64_t count = std::min(positions_an_item, job.length - first);
    for (int64_t step = first; step < first + count; ++step) row(batch, step);
    item.tally += {0, count * job.channels, count * job.channels};
}

int64_t row_at(const Job& job, int64_t batch, int64_t step) {
    return Access(job).offset({.batch = batch, .first = step});
}

// One row of values in f32; widened into `room` if it is stored in less.
const float* widened_row(const Buffer& values, int64_t at, int64_t count, float* room) {
    if (values.storage == Storage::f32) return values.as<float>() + at;
    cpu::read(values, at, count, room);
    return room;
}

// Equal infinities differ by 0.
float difference(float left, float right) { return left == right ? 0 : left - right; }

// Whether an output is that of the step before it, so that the step has no new maximum or minimum.
bool is_kept(float before, float here) { return before == here || (std::isnan(before) && std::isnan(here)); }

// The rows that a launch reads, widened where they are stored in less than f32, and a row of exponentials.
struct GradientRooms {
    float *here = nullptr, *other = nullptr, *exponentials = nullptr;

    GradientRooms(cpu::Scratch& scratch, const Job& forward) {
        if (forward.storage() != Storage::f32)
            for (float** row : {&here, &other}) *row = scratch.take<float>(forward.channels);
        if (forward.op == Operator::log_sum_exp) exponentials = scratch.take<float>(padded(forward));
    }
    static int64_t padded(const Job& forward) { return round_up(forward.channels, 16); }

    // A row of exp(left - right).
    const float* ratios(const Job& forward, const float* left, const float* right) const {
        for (int64_t c = 0; c < forward.channels; ++c) exponentials[c] = difference(left[c], right[c]);
        std::fill_n(exponentials + forward.channels, padded(forward) - forward.channels, 0.0f);
        cpu::exponentials(exponentials, padded(forward));
        return exponentials;
    }
};

// Adds a launch that calls act(rooms, batch, step) for every row.
template <class Act>
void add_rows(cpu::PlanBuilder& builder, const Stage& stage, Act act) {
    builder.launch(with_scratch(stage.info, cpu::scratch_bytes<GradientRooms>(stage.job)),
                   row_blocks(stage.job), [act, job = stage.job](const Item& item) {
                       const auto rooms = cpu::take_rooms<GradientRooms>(item.scratch, job);
                       each_row(job, item, [&](int64_t batch, int64_t step) { act(rooms, batch, step); });
                   });
}

template <class Word>
void shift_row(const Job& forward, void* shifted, int64_t batch, int64_t step) {
    Word* const to = static_cast<Word*>(shifted) + row_at(forward, batch, step);
    if (step + 1 == forward.length) {
        std::fill_n(to, forward.channels, Word{});
        return;
    }
    std::copy_n(forward.in.front().as<Word>() + row_at(forward, batch, step + 1), forward.channels, to);
    if constexpr (std::is_same_v<Word, float>)  // the gradient passes conjugate gates
        for (int64_t c = 1; pairs_columns(forward.op) && c < forward.channels; c += 2) to[c] = -to[c];
}

void output_gates_row(const Job& forward, const OutputGates& gates, const GradientRooms& rooms, int64_t batch,
                      int64_t step) {
    const int64_t at = row_at(forward, batch, step), width = forward.channels;
    float* const to = gates.gates + at;
    if (gates.widened)
        cpu::widen(forward.storage(), static_cast<const uint16_t*>(gates.dy) + at, gates.widened + at, width);
    if (step + 1 == forward.length) {
        std::fill_n(to, width, 0.0f);
        return;
    }
    const int64_t following = row_at(forward, batch, step + 1);
    const float* const next = widened_row(forward.y, following, width, rooms.other);
    if (forward.op == Operator::log_sum_exp) {
        // 1 - exp(x - next) is exp(here - next), but its roundings near 1 do not all go the same way.
        const float* const x = widened_row(forward.in.front(), following, width, rooms.here);
        std::copy_n(rooms.ratios(forward, x, next), width, to);
        const float* const here = widened_row(forward.y, at, width, rooms.here);
        const float* const ratios = rooms.ratios(forward, here, next);
        for (int64_t c = 0; c < width; ++c) to[c] = to[c] < 0.5f ? 1 - to[c] : ratios[c];
        return;
    }
    const float* const here = widened_row(forward.y, at, width, rooms.here);
    for (int64_t c = 0; c < width; ++c) to[c] = is_kept(here[c], next[c]) ? 1 : 0;
}

// out = g times the conjugate of `factors` (null: 0), which is added if `adds`.
void multiply_row(const Job& forward, const float* g, const float* factors, bool adds, float* out) {
    const auto factor = [&](int64_t c) { return factors ? factors[c] : 0; };
    const auto put = [&](int64_t c, float value) { out[c] = adds ? out[c] + value : value; };
    if (!pairs_columns(forward.op)) {
        for (int64_t c = 0; c < forward.channels; ++c) put(c, g[c] * factor(c));
        return;
    }
    for (int64_t c = 0; c < forward.channels; c += 2) {
        put(c, g[c] * factor(c) + g[c + 1] * factor(c + 1));
        put(c + 1, g[c + 1] * factor(c) - g[c] * factor(c + 1));
    }
}

void gate_gradient_row(const Job& forward, const GateGradient& gradient, const GradientRooms& rooms,
                       int64_t batch, int64_t step) {
    const int64_t here = row_at(forward, batch, step), width = forward.channels;
    const float* const initial = forward.initial ? forward.initial.as<float>() + batch * width : nullptr;
    const float* const before =
        step > 0 ? widened_row(forward.y, row_at(forward, batch, step - 1), width, rooms.other) : initial;
    multiply_row(forward, gradient.g + here, before, gradient.adds, gradient.da + here);
    if (step != 0 || !gradient.dinitial) return;
    const float* const gate = widened_row(forward.in.front(), here, width, rooms.here);
    multiply_row(forward, gradient.g + here, gate, gradient.adds, gradient.dinitial + batch * width);
}

void input_gradient_row(const Job& forward, const InputGradient& gradient, const GradientRooms& rooms,
                        int64_t batch, int64_t step) {
    const int64_t at = row_at(forward, batch, step), width = forward.channels;
    const float* const g = gradient.g + at;
    float* const dx = gradient.dx + at;
    const auto put = [&](auto&& value_of) {
        for (int64_t c = 0; c < width; ++c) dx[c] = gradient.adds ? dx[c] + value_of(c) : value_of(c);
    };
    const auto output = [&](int64_t of, float* room) {
        return widened_row(forward.y, row_at(forward, batch, of), width, room);
    };
    switch (forward.op) {
        case Operator::product: {
            if (step == 0) return put([&](int64_t c) { return g[c]; });
            const float* const before = output(step - 1, rooms.other);
            return put([&](int64_t c) { return g[c] * before[c]; });
        }
        case Operator::maximum:
        case Operator::minimum: {
            if (step == 0) return put([&](int64_t c) { return g[c]; });
            const float *const before = output(step - 1, rooms.other), *const here = output(step, rooms.here);
            return put([&](int64_t c) { return is_kept(before[c], here[c]) ? 0 : g[c]; });
        }
        case Operator::log_sum_exp: {
            const float* const x = widened_row(forward.in.front(), at, width, rooms.other);
            const float* const shares = rooms.ratios(forward, x, output(step, rooms.here));
            return put([&](int64_t c) { return g[c] * shares[c]; });
        }
        default:
            return put([&](int64_t c) { return g[c]; });
    }
}

}  // namespace

void add(cpu::PlanBuilder& builder, const Stage& stage, const ShiftGates& shift) {
    const auto shift_of = stage.job.storage() == Storage::f32 ? shift_row<float> : shift_row<uint16_t>;
    builder.launch(stage.info, row_blocks(stage.job), [=, job = stage.job](const Item& item) {
        each_row(job, item, [&](int64_t batch, int64_t step) { shift_of(job, shift.shifted, batch, step); });
    });
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const OutputGates& gates) {
    add_rows(builder, stage,
             [gates, job = stage.job](const GradientRooms& rooms, int64_t batch, int64_t step) {
                 output_gates_row(job, gates, rooms, batch, step);
             });
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const GateGradient& gradient) {
    add_rows(builder, stage,
             [gradient, job = stage.job](const GradientRooms& rooms, int64_t batch, int64_t step) {
                 gate_gradient_row(job, gradient, rooms, batch, step);
             });
}

void add(cpu::PlanBuilder& builder, const Stage& stage, const InputGradient& gradient) {
    add_rows(builder, stage,
             [gradient, job = stage.job](const GradientRooms& rooms, int64_t batch, int64_t step) {
                 input_gradient_row(job, gradient, rooms, batch, step);
             });
}

}  // namespace sawtooth::scan

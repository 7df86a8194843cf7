#include "kernels/memory/cpu/job.h"

#include <algorithm>

#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::memory {
namespace {

// Converts 16 rows of a row-major [rows, columns] to a strip, and back; missing rows are zeros.
void load_strip(const float* from, int64_t rows, int64_t columns, int64_t strip, float* to) {
    std::fill_n(to, columns * lanes, 0.0f);
    if (!from) return;
    const int64_t first = strip * lanes, count = std::min(rows - first, lanes);
    for (int64_t row = 0; row < count; ++row)
        for (int64_t column = 0; column < columns; ++column)
            to[column * lanes + row] = from[(first + row) * columns + column];
}

void store_strip(const float* from, int64_t rows, int64_t columns, int64_t strip, float* to) {
    const int64_t first = strip * lanes, count = std::min(rows - first, lanes);
    for (int64_t row = 0; row < count; ++row)
        for (int64_t column = 0; column < columns; ++column)
            to[(first + row) * columns + column] = from[column * lanes + row];
}

// W [d, 2 d] in strips of W^T, the layout in which a layer would store its weights.
const float* strips_of_w(cpu::PlanBuilder& builder, const float* w, int64_t d) {
    const int64_t half = padded(d), count = strips_of(d) * 2 * half * lanes;
    float* const to = builder.take<float>(count);
    if (builder.dry() || builder.failed()) return to;
    std::fill_n(to, count, 0.0f);
    for (int64_t row = 0; row < d; ++row)
        for (int64_t column = 0; column < 2 * d; ++column) {
            const int64_t line = column < d ? column : half + column - d;
            to[(row / lanes * 2 * half + line) * lanes + row % lanes] = w[row * 2 * d + column];
        }
    return to;
}

// Loads `count` numbers from element `at` on as f32, then zeros up to `room`.
void load_row(Storage storage, const void* from, int64_t at, int64_t count, float* to, int64_t room) {
    if (storage == Storage::f32)
        std::copy_n(static_cast<const float*>(from) + at, count, to);
    else
        cpu::widen(storage, static_cast<const uint16_t*>(from) + at, to, count);
    std::fill(to + count, to + room, 0.0f);
}

// silu([k; v]) of every token, [tokens, 2 padded(d)], at the beginning of the room.
const float* load_inputs_of_w(const CpuJob& job, int64_t sequence, Range tokens, float* room) {
    const int64_t half = padded(job.d), count = tokens.count();
    float *const both = room, *const one = both + 2 * half * count;
    job.load_keys(job.k, sequence, tokens, one);
    job.load(job.v, sequence, tokens, one + half * count);
    for (int64_t row = 0; row < count; ++row) {
        std::copy_n(one + row * half, half, both + 2 * row * half);
        std::copy_n(one + (count + row) * half, half, both + (2 * row + 1) * half);
    }
    cpu::silu(both, 2 * half * count);
    return both;
}

// -W silu([k; v]) for `strips` strips of W.
void multiply_by_w(const CpuJob& job, int64_t sequence, Range tokens, const float* w_strips, int64_t strips,
                   float* room, float* to) {
    const int64_t inner = 2 * padded(job.d);
    cpu::multiply({.left = {load_inputs_of_w(job, sequence, tokens, room), inner, 1},
                   .right = {w_strips, lanes, inner * lanes},
                   .target = {to, strips * lanes, lanes},
                   .rows = tokens.count(),
                   .inner = inner,
                   .blocks = strips});
    cpu::scale(to, -1, tokens.count() * strips * lanes);
}

}  // namespace

StripChain::StripChain(cpu::PlanBuilder& builder, Chain chain) : Chain(std::move(chain)) {
    m.live = builder.take<float>(items() * strip_size());
    if (has_momentum) s.live = builder.take<float>(items() * strip_size());
}

Side StripChain::sides() const { return side("B", batch) * pieces(rows_word, rows, lanes); }

Gate StripChain::gate(int64_t sequence, int64_t token) const {
    const int64_t i = sequence * length + token;
    const float step = gates.theta ? gates.theta[i] : 1;
    return {1 - (gates.alpha ? gates.alpha[i] : 0) - gates.lambda * step, gates.eta ? gates.eta[i] : 0,
            step * gates.share};
}

void StripChain::load_initial(int64_t item, float* to_m, float* to_s) const {
    const int64_t sequence = item / strips(), strip = item % strips();
    const auto of = [&](const float* states) {
        return states ? states + sequence * rows * columns : nullptr;
    };
    load_strip(of(m.from), rows, columns, strip, to_m);
    if (to_s) load_strip(of(s.from), rows, columns, strip, to_s);
}

void StripChain::put_boundary(int64_t item, int64_t token, const float* strip) const {
    if (!boundaries || token % chunk != 0) return;
    const int64_t at = item / strips() * boundary_count + token / chunk;
    store_strip(strip, rows, columns, item % strips(), boundaries + at * rows * columns);
}

void StripChain::put_final(int64_t item) const {
    const int64_t sequence = item / strips(), strip = item % strips(), size = rows * columns;
    const auto put = [&](const float* from, float* to) { store_strip(from, rows, columns, strip, to); };
    if (m.to) put(m_of(item), m.to + sequence * size);
    if (s.to) put(s_of(item), s.to + sequence * size);
    if (boundaries) put(m_of(item), boundaries + ((sequence + 1) * boundary_count - 1) * size);
}

CpuJob::CpuJob(cpu::PlanBuilder& builder, const Job& job) : Job(job) {
    if (w_omega) w_strips = strips_of_w(builder, w_omega, d);
    switch (rule->state) {
        case State::matrix:
            memory = StripChain(builder, matrix_chain(job));
            break;
        case State::trellis:
            memory = StripChain(builder, key_chain(job));
            values = StripChain(builder, value_chain(job));
            break;
        case State::slots:
            m.live = builder.take<float>(batch * slot_count * padded(d));
            break;
    }
}

void CpuJob::load(const void* from, int64_t sequence, Range tokens, float* to) const {
    const int64_t stride = padded(d), at = (sequence * length + tokens.first) * d;
    for (int64_t row = 0; row < tokens.count(); ++row)
        load_row(storage, from, at + row * d, d, to + row * stride, stride);
}

void CpuJob::load_keys(const void* from, int64_t sequence, Range tokens, float* to) const {
    load(from, sequence, tokens, to);
    if (!normalises) return;
    for (int64_t row = 0; row < tokens.count(); ++row) cpu::normalise(to + row * padded(d), padded(d));
}

void CpuJob::load_values(int64_t sequence, Range tokens, float* room, float* to) const {
    if (!w_strips) return load(v, sequence, tokens, to);
    multiply_by_w(*this, sequence, tokens, w_strips, strips_of(d), room, to);
}

void CpuJob::load_strip_values(int64_t sequence, int64_t strip, Range tokens, float* room, float* to) const {
    if (w_strips)
        return multiply_by_w(*this, sequence, tokens, w_strips + strip * 2 * padded(d) * lanes, 1, room, to);
    const int64_t column = strip * lanes, there = std::min(d - column, lanes);
    const int64_t at = (sequence * length + tokens.first) * d + column;
    for (int64_t row = 0; row < tokens.count(); ++row)
        load_row(storage, v, at + row * d, there, to + row * lanes, lanes);
}

void CpuJob::put(int64_t sequence, int64_t token, int64_t column, const float* from, int64_t count) const {
    const int64_t at = sequence * y_stride + token * d + column, there = std::min(count, d - column);
    if (storage == Storage::f32)
        std::copy_n(from, there, static_cast<float*>(y) + at);
    else
        cpu::narrow(storage, from, static_cast<uint16_t*>(y) + at, there);
}

void CpuJob::put_rows(int64_t sequence, Range tokens, const float* rows) const {
    const int64_t stride = padded(d);
    for (int64_t row = 0; row < tokens.count(); ++row)
        put(sequence, tokens.first + row, 0, rows + row * stride, stride);
}

}  // namespace sawtooth::memory

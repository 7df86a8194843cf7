#include "kernels/memory/cpu/job.h"

#include <algorithm>

#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::memory {
namespace {

// load_strip converts 16 rows of a row-major matrix [rows, columns] to a strip, with zeros for missing rows;
// store_strip converts them back.
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

// Copies W [d, 2 d] to strips of W^T, the layout in which a layer would store its weights. The result has the
// shape of W, so that launches count the numbers of W without padding.
Buffer strips_of_w(cpu::PlanBuilder& builder, const Buffer& w, int64_t d) {
    const int64_t half = padded(d);
    const Buffer strips = builder.take("w_omega", {strips_of(d), 2 * half, lanes});
    if (builder.dry() || builder.failed()) return strips.part(w.shape);
    const float* const from = w.as<float>();
    float* const to = strips.as<float>();
    std::fill_n(to, count_of(strips.shape), 0.0f);
    for (int64_t row = 0; row < d; ++row)
        for (int64_t column = 0; column < 2 * d; ++column) {
            const int64_t line = column < d ? column : half + column - d;
            to[(row / lanes * 2 * half + line) * lanes + row % lanes] = from[row * 2 * d + column];
        }
    return strips.part(w.shape);
}

Tensors as_kernels_read(cpu::PlanBuilder& builder, Tensors t) {
    const auto in_strips = [&](const std::string& name, int64_t rows, int64_t columns) {
        return builder.take(name + ", in strips", {t.batch, strips_of(rows), columns, lanes});
    };
    t.works_in_live = true;
    if (t.w_omega) t.w_omega = strips_of_w(builder, t.w_omega, t.d);
    switch (t.rule->state) {
        case State::matrix:
            t.m.live = in_strips("m", t.d, t.d);
            if (t.passes_s) t.s.live = in_strips("s", t.d, t.d);
            break;
        case State::trellis:
            t.m.live = in_strips("sk", t.compress, t.d);
            t.s.live = in_strips("sv", t.d, t.compress);
            break;
        case State::slots:
            t.m.live = builder.take("m, padded", {t.batch, t.slot_count, padded(t.d)});
            break;
    }
    return t;
}

// Computes silu([k; v]) of every token, [tokens, 2 padded(d)], at the beginning of the room.
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

// Computes -W silu([k; v]) for `strips` strips of W from `first_strip` on.
void multiply_by_w(const CpuJob& job, int64_t sequence, Range tokens, int64_t first_strip, int64_t strips,
                   float* room, float* to) {
    const int64_t inner = 2 * padded(job.d);
    cpu::multiply({.left = {load_inputs_of_w(job, sequence, tokens, room), inner, 1},
                   .right = {job.w_omega.as<float>() + first_strip * inner * lanes, lanes, inner * lanes},
                   .target = {to, strips * lanes, lanes},
                   .rows = tokens.count(),
                   .inner = inner,
                   .blocks = strips});
    cpu::scale(to, -1, tokens.count() * strips * lanes);
}

}  // namespace

Side StripChain::sides() const { return side("B", batch) * pieces(rows_word, rows, lanes); }

TokenGate StripChain::gate(int64_t sequence, int64_t token) const {
    const int64_t i = sequence * length + token;
    const float step = thetas_ ? thetas_[i] : 1;
    const float share = windows_ ? 1 / static_cast<float>(windows_[i]) : share_;
    return {1 - (alphas_ ? alphas_[i] : 0) - lambda * step, etas_ ? etas_[i] : 0, step * share};
}

void StripChain::load_initial(int64_t item, float* to_m, float* to_s) const {
    const int64_t sequence = item / strips(), strip = item % strips();
    const auto given = [&](const Buffer& states) {
        return states ? states.as<float>() + sequence * rows * columns : nullptr;
    };
    load_strip(given(m.from), rows, columns, strip, to_m);
    if (to_s) load_strip(given(s.from), rows, columns, strip, to_s);
}

void StripChain::put(int64_t item, const float* strip, const Buffer& to, int64_t at) const {
    if (to) store_strip(strip, rows, columns, item % strips(), to.as<float>() + at * rows * columns);
}

void StripChain::put_boundary(int64_t item, int64_t token, const float* strip) const {
    if (boundaries && token % chunk == 0)
        put(item, strip, boundaries, item / strips() * boundary_count + token / chunk);
}

void StripChain::put_final(int64_t item, const float* last_m, const float* last_s) const {
    const int64_t sequence = item / strips();
    put(item, last_m, m.to, sequence);
    put(item, last_s, s.to, sequence);
    put(item, last_m, boundaries, (sequence + 1) * boundary_count - 1);
}

CpuJob::CpuJob(cpu::PlanBuilder& builder, const Tensors& given)
    : Tensors(as_kernels_read(builder, given)),
      memory(rule->is(State::trellis) ? key_chain(*this) : matrix_chain(*this)),
      values(value_chain(*this)) {}

void CpuJob::load(const Buffer& from, int64_t sequence, Range tokens, float* to) const {
    const int64_t stride = padded(d), at = (sequence * length + tokens.first) * d;
    for (int64_t row = 0; row < tokens.count(); ++row, to += stride) {
        cpu::read(from, at + row * d, d, to);
        std::fill(to + d, to + stride, 0.0f);
    }
}

void CpuJob::load_keys(const Buffer& from, int64_t sequence, Range tokens, float* to) const {
    load(from, sequence, tokens, to);
    if (!normalises) return;
    for (int64_t row = 0; row < tokens.count(); ++row) cpu::normalise(to + row * padded(d), padded(d));
}

void CpuJob::load_values(int64_t sequence, Range tokens, float* room, float* to) const {
    if (!w_omega) return load(v, sequence, tokens, to);
    multiply_by_w(*this, sequence, tokens, 0, strips_of(d), room, to);
}

void CpuJob::load_strip_values(int64_t sequence, int64_t strip, Range tokens, float* room, float* to) const {
    if (w_omega) return multiply_by_w(*this, sequence, tokens, strip, 1, room, to);
    const int64_t column = strip * lanes, there = std::min(d - column, lanes);
    const int64_t at = (sequence * length + tokens.first) * d + column;
    for (int64_t row = 0; row < tokens.count(); ++row, to += lanes) {
        cpu::read(v, at + row * d, there, to);
        std::fill(to + there, to + lanes, 0.0f);
    }
}

void CpuJob::put(int64_t sequence, int64_t token, int64_t column, const float* from, int64_t count) const {
    cpu::write(from, std::min(count, d - column), y, y_first + sequence * y_stride + token * d + column);
}

void CpuJob::put_rows(int64_t sequence, Range tokens, const float* rows) const {
    const int64_t stride = padded(d);
    for (int64_t row = 0; row < tokens.count(); ++row)
        put(sequence, tokens.first + row, 0, rows + row * stride, stride);
}

}  // namespace sawtooth::memory

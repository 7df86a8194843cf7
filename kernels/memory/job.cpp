#include "kernels/memory/job.h"

#include <algorithm>

#include "kernels/memory/scratch.h"
#include "kernels/memory/vectors.h"

namespace sawtooth::memory {
namespace {

// 16 rows of a row-major [rows, columns] side by side, and back; rows that are not there are zeros.
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

thread_local std::vector<float> scratch_inputs;

// `count` numbers from element `at` on as f32, then zeros up to `room`.
void load_row(const Rows& rows, int64_t at, int64_t count, float* to, int64_t room) {
    if (rows.precision == cpu::Precision::f32)
        std::copy_n(static_cast<const float*>(rows.values) + at, count, to);
    else
        cpu::widen(rows.precision, static_cast<const uint16_t*>(rows.values) + at, to, count);
    std::fill(to + count, to + room, 0.0f);
}

}  // namespace

void Rows::load(int64_t batch, Range tokens, float* to, int64_t stride) const {
    const int64_t at = (batch * length + tokens.first) * width;
    for (int64_t row = 0; row < tokens.count(); ++row)
        load_row(*this, at + row * width, width, to + row * stride, stride);
}

void Rows::load_strip(int64_t batch, int64_t strip, Range tokens, float* to) const {
    const int64_t column = strip * lanes, count = std::min(width - column, lanes);
    const int64_t at = (batch * length + tokens.first) * width + column;
    for (int64_t row = 0; row < tokens.count(); ++row)
        load_row(*this, at + row * width, count, to + row * lanes, lanes);
}

void Sink::put(int64_t batch, int64_t token, int64_t column, const float* from, int64_t count) const {
    const int64_t at = batch * batch_stride + token * width + column;
    const int64_t there = std::min(count, width - column);
    if (precision == cpu::Precision::f32)
        std::copy_n(from, there, static_cast<float*>(values) + at);
    else
        cpu::narrow(precision, from, static_cast<uint16_t*>(values) + at, there);
}

void Chain::load_initial(int64_t item, float* to_m, float* to_s) const {
    const int64_t b = item / strips(), strip = item % strips();
    load_strip(m0 ? m0 + b * rows * columns : nullptr, rows, columns, strip, to_m);
    if (to_s) load_strip(s0 ? s0 + b * rows * columns : nullptr, rows, columns, strip, to_s);
}

void Chain::load_initial(int64_t item) const {
    load_initial(item, strip_of(m, item), s ? strip_of(s, item) : nullptr);
}

void Chain::put_boundary(int64_t item, int64_t token, const float* strip) const {
    if (!boundaries || token % boundary_chunk != 0) return;
    const int64_t b = item / strips(), at = b * boundary_count + token / boundary_chunk;
    store_strip(strip, rows, columns, item % strips(), boundaries + at * rows * columns);
}

void Chain::put_final(int64_t item) const {
    const int64_t b = item / strips(), strip = item % strips();
    const auto put = [&](const float* states, float* to) {
        store_strip(states + item * strip_size(), rows, columns, strip, to);
    };
    if (final_m) put(m, final_m + b * rows * columns);
    if (final_s) put(s, final_s + b * rows * columns);
    if (boundaries) put(m, boundaries + ((b + 1) * boundary_count - 1) * rows * columns);
}

void Job::load_keys(const Rows& from, int64_t batch_item, Range tokens, float* to) const {
    const int64_t stride = padded(from.width);
    from.load(batch_item, tokens, to, stride);
    if (!normalises) return;
    for (int64_t row = 0; row < tokens.count(); ++row) normalise(to + row * stride, stride);
}

namespace {

// silu([k; v]) of every token, [tokens, 2 padded(d)].
const float* load_inputs_of_w(const Job& job, int64_t batch_item, Range tokens) {
    const int64_t half = padded(job.width), count = tokens.count();
    float* const both = at_least(scratch_inputs, 4 * half * count);
    float* const one = both + 2 * half * count;
    job.load_keys(job.k, batch_item, tokens, one);
    job.v.load(batch_item, tokens, one + half * count, half);
    for (int64_t row = 0; row < count; ++row) {
        std::copy_n(one + row * half, half, both + 2 * row * half);
        std::copy_n(one + (count + row) * half, half, both + (2 * row + 1) * half);
    }
    silu(both, 2 * half * count);
    return both;
}

}  // namespace

void Job::load_values(int64_t batch_item, Range tokens, float* to) const {
    const int64_t stride = padded(width);
    if (rule != UpdateRule::atlas) return v.load(batch_item, tokens, to, stride);
    const float* const inputs = load_inputs_of_w(*this, batch_item, tokens);
    multiply({.left = {inputs, 2 * stride, 1},
              .right = {w_omega, lanes, 2 * stride * lanes},
              .target = {to, stride, lanes},
              .rows = tokens.count(),
              .inner = 2 * stride,
              .blocks = strips_of(width)});
    scale(to, -1, tokens.count() * stride);
}

void Job::load_strip_values(int64_t batch_item, int64_t strip, Range tokens, float* to) const {
    if (rule != UpdateRule::atlas) return v.load_strip(batch_item, strip, tokens, to);
    const int64_t stride = padded(width), count = tokens.count();
    const float* const inputs = load_inputs_of_w(*this, batch_item, tokens);
    multiply({.left = {inputs, 2 * stride, 1},
              .right = {w_omega + strip * 2 * stride * lanes},
              .target = {to},
              .rows = count,
              .inner = 2 * stride});
    scale(to, -1, count * lanes);
}

void* Outputs::take(std::string name, Dtype dtype, Shape shape, cpu::Precision precision) {
    const int64_t bytes = count_of(shape) * (precision == cpu::Precision::f32 ? bytes_of(dtype) : 2);
    const std::shared_ptr<std::byte[]> memory = plan_.take_shared(bytes);
    outputs_.push_back({std::move(name), dtype, std::move(shape), precision, memory});
    return memory.get();
}

Array Outputs::Output::array() const {
    if (precision == cpu::Precision::f32) return {name, dtype, shape, memory};
    Array wide = Array::uninitialised(name, dtype, shape);
    cpu::widen(precision, reinterpret_cast<const uint16_t*>(memory.get()), wide.as<float>().data(),
               wide.count());
    return wide;
}

void Outputs::finish() {
    plan_.outputs = [outputs = std::move(outputs_)]() -> Outcome<Arrays> {
        Arrays arrays;
        for (const Output& output : outputs) arrays.push_back(output.array());
        return arrays;
    };
}

Rows rows_of(Plan& plan, const Array& array, cpu::Precision precision) {
    const int64_t width = array.shape.back(), length = array.shape[array.shape.size() - 2];
    if (precision == cpu::Precision::f32) return {precision, plan.share<float>(array), length, width};
    auto* const narrow = plan.take<uint16_t>(array.count());
    if (!plan.dry) cpu::narrow(precision, array.as<float>().data(), narrow, array.count());
    return {precision, narrow, length, width};
}

}  // namespace sawtooth::memory

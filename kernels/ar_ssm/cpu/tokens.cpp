#include "kernels/ar_ssm/cpu/tokens.h"

#include <algorithm>

#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {
namespace {

bool in_place(const Buffer& array) {
    return array.storage == Storage::f32 && array.shape.back() % cpu::lanes == 0;
}

}  // namespace

void multiply(const Rows& left, const Rows& right, const Rows& to, int64_t count) {
    std::copy_n(left.values, count * to.stride, to.values);
    cpu::multiply_elements(to.values, right.values, count * to.stride);
}

void add(const Rows& to, const Rows& other, int64_t count) {
    cpu::combine(to.values, 1, to.values, 1, other.values, count * to.stride);
}

float* take_room(cpu::Scratch& scratch, const Buffer& array, int64_t tokens, int64_t columns) {
    return in_place(array) ? nullptr : scratch.take<float>(tokens * cpu::padded(columns));
}

float* take_room(cpu::Scratch& scratch, const Buffer& array, int64_t tokens) {
    return take_room(scratch, array, tokens, array.shape.back());
}

Rows load(const Buffer& array, Range tokens, Range columns, float* room) {
    const int64_t across = array.shape.back(), count = columns.count(), stride = cpu::padded(count);
    const int64_t at = tokens.first * across + columns.first;
    if (in_place(array)) return {array.as<float>() + at, across};
    for (int64_t i = 0; i < tokens.count(); ++i) {
        float* const row = room + i * stride;
        cpu::read(array, at + i * across, count, row);
        std::fill(row + count, row + stride, 0.0f);
    }
    return {room, stride};
}

Rows load(const Buffer& array, Range tokens, float* room) {
    return load(array, tokens, {0, array.shape.back()}, room);
}

Rows rows_to_put(const Buffer& array, Range tokens, float* room) {
    return in_place(array) ? rows_from(array, tokens.first) : Rows{room, cpu::padded(array.shape.back())};
}

void put(const float* rows, Range tokens, const Buffer& to) {
    if (in_place(to)) return;
    const int64_t columns = to.shape.back();
    for (int64_t token = tokens.first; token < tokens.last; ++token, rows += cpu::padded(columns))
        cpu::write(rows, columns, to, token * columns);
}

}  // namespace sawtooth::ar_ssm

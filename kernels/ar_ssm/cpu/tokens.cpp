#include "kernels/ar_ssm/cpu/tokens.h"

#include <algorithm>

#include "kernels/cpu/half.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::ar_ssm {

float* TokenArray::take_room(cpu::Scratch& scratch, int64_t tokens, int64_t of_columns) const {
    return in_place() ? nullptr : scratch.take<float>(tokens * cpu::padded(of_columns));
}

Rows TokenArray::load(Range tokens, Range of_columns, float* room) const {
    const int64_t at = tokens.first * columns + of_columns.first, count = of_columns.count();
    if (in_place()) return {static_cast<const float*>(values) + at, columns};
    const int64_t stride = cpu::padded(count);
    for (int64_t i = 0; i < tokens.count(); ++i) {
        float* const row = room + i * stride;
        if (storage == Storage::f32)
            std::copy_n(static_cast<const float*>(values) + at + i * columns, count, row);
        else
            cpu::widen(storage, static_cast<const uint16_t*>(values) + at + i * columns, row, count);
        std::fill(row + count, row + stride, 0.0f);
    }
    return {room, stride};
}

void multiply(const Buffer& left, const Buffer& right, const Buffer& to, int64_t count) {
    std::copy_n(left.values, count * to.stride, to.values);
    cpu::multiply_elements(to.values, right.values, count * to.stride);
}

void add(const Buffer& to, const Buffer& other, int64_t count) {
    cpu::combine(to.values, 1, to.values, 1, other.values, count * to.stride);
}

Buffer TokenOutput::buffer(PlanBuilder& builder, int64_t tokens) const {
    const int64_t stride = cpu::padded(columns);
    return {in_place() ? static_cast<float*>(values) : builder.take<float>(tokens * stride), stride};
}

Buffer TokenOutput::rows(Range tokens, float* room) const {
    const int64_t stride = cpu::padded(columns);
    if (in_place()) return {static_cast<float*>(values) + tokens.first * stride, stride};
    return {room, stride};
}

void TokenOutput::put(Range tokens, const float* rows) const {
    if (in_place()) return;
    for (int64_t token = tokens.first; token < tokens.last; ++token, rows += cpu::padded(columns)) {
        const int64_t at = token * columns;
        if (storage == Storage::f32)
            std::copy_n(rows, columns, static_cast<float*>(values) + at);
        else
            cpu::narrow(storage, rows, static_cast<uint16_t*>(values) + at, columns);
    }
}

}  // namespace sawtooth::ar_ssm

#pragma once

#include "kernels/core/buffer.h"
#include "kernels/core/range.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::ar_ssm {

// Rows of f32, `stride` numbers apart. Each can be read up to its columns padded to a multiple of 16.
struct Rows {
    float* values = nullptr;
    int64_t stride = 0;

    float* at(int64_t row) const { return values + row * stride; }
};

// The rows of an array between launches, from `token` on.
inline Rows rows_from(const Buffer& array, int64_t token) {
    const int64_t stride = array.shape.back();
    return {array.as<float>() + token * stride, stride};
}

// Elementwise on `count` rows of the same stride: to = left * right, and to += other.
void multiply(const Rows& left, const Rows& right, const Rows& to, int64_t count);
void add(const Rows& to, const Rows& other, int64_t count);

// Rows of arrays [batch, length, columns] of any storage. Padded rows of f32 are used in place, others need a
// room.

// Takes the room for `columns` columns of some tokens; returns null for rows that are used in place.
float* take_room(cpu::Scratch& scratch, const Buffer& array, int64_t tokens, int64_t columns);
float* take_room(cpu::Scratch& scratch, const Buffer& array, int64_t tokens);  // for all columns
// Loads some columns of some tokens, into `room` unless they are used in place. The first column must be a
// multiple of 16.
Rows load(const Buffer& array, Range tokens, Range columns, float* room);
Rows load(const Buffer& array, Range tokens, float* room);
// rows_to_put returns where to compute rows of an output; put then stores them.
Rows rows_to_put(const Buffer& array, Range tokens, float* room);
void put(const float* rows, Range tokens, const Buffer& to);

}  // namespace sawtooth::ar_ssm

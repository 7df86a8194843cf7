#pragma once

#include "kernels/core/buffer.h"
#include "kernels/core/range.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::ar_ssm {

// Rows of f32, `stride` apart. As many numbers as the columns padded to a multiple of 16 can be read.
struct Rows {
    float* values = nullptr;
    int64_t stride = 0;

    float* at(int64_t row) const { return values + row * stride; }
};

// Of an array between launches, the rows from that token on.
inline Rows rows_from(const Buffer& array, int64_t token) {
    const int64_t stride = array.shape.back();
    return {array.as<float>() + token * stride, stride};
}

// to = left * right and to += other, number by number, on `count` rows. All have one stride.
void multiply(const Rows& left, const Rows& right, const Rows& to, int64_t count);
void add(const Rows& to, const Rows& other, int64_t count);

// Rows of arrays [batch, length, columns] of any storage. Those of padded f32 are used where they are, others
// need a room.

// The room for `columns` of some tokens; null for rows that are used in place.
float* take_room(cpu::Scratch& scratch, const Buffer& array, int64_t tokens, int64_t columns);
float* take_room(cpu::Scratch& scratch, const Buffer& array, int64_t tokens);  // for all columns
// Some columns of some tokens; copied to `room` unless they are used in place. The first column is a multiple
// of 16.
Rows load(const Buffer& array, Range tokens, Range columns, float* room);
Rows load(const Buffer& array, Range tokens, float* room);
// Where rows of an output are computed, and what stores them then.
Rows rows_to_put(const Buffer& array, Range tokens, float* room);
void put(const float* rows, Range tokens, const Buffer& to);

}  // namespace sawtooth::ar_ssm

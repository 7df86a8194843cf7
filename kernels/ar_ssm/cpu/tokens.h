#pragma once

#include "kernels/core/plan_builder.h"
#include "kernels/core/range.h"
#include "kernels/core/storage.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/scratch.h"

namespace sawtooth::ar_ssm {

// Rows of f32, `stride` apart. As many numbers as the columns padded to a multiple of 16 can be read.
struct Rows {
    const float* values = nullptr;
    int64_t stride = 0;

    const float* row(int64_t index) const { return values + index * stride; }
};

// An array [tokens, columns] of any storage.
struct TokenArray {
    const void* values = nullptr;
    int64_t columns = 0;
    Storage storage = Storage::f32;

    // Whether its rows are padded f32, so that they are used where they are.
    bool in_place() const { return storage == Storage::f32 && columns % cpu::lanes == 0; }
    // The room that `load` needs; null for rows that are used in place.
    float* take_room(cpu::Scratch& scratch, int64_t tokens, int64_t of_columns) const;
    float* take_room(cpu::Scratch& scratch, int64_t tokens) const {
        return take_room(scratch, tokens, columns);
    }
    // Some columns of some tokens; copied to `room` unless they are used in place. The first column is a
    // multiple of 16.
    Rows load(Range tokens, Range of_columns, float* room) const;
    Rows load(Range tokens, float* room) const { return load(tokens, {0, columns}, room); }
};

// Rows between launches, [tokens, stride] of f32; the stride is a multiple of 16.
struct Buffer {
    float* values = nullptr;
    int64_t stride = 0;

    float* at(int64_t token) const { return values + token * stride; }
    Buffer from(int64_t token) const { return {at(token), stride}; }
    operator Rows() const { return {values, stride}; }
    TokenArray array() const { return {values, stride}; }
    explicit operator bool() const { return values; }
};

// to = left * right and to += other, number by number, on `count` rows. All have one stride.
void multiply(const Buffer& left, const Buffer& right, const Buffer& to, int64_t count);
void add(const Buffer& to, const Buffer& other, int64_t count);

// An output [tokens, columns] of any storage. Its rows are computed in padded f32, in place where possible;
// then `put` stores them.
struct TokenOutput {
    void* values = nullptr;
    int64_t columns = 0;
    Storage storage = Storage::f32;

    // The room that `rows` needs; null for rows that are computed in place.
    float* take_room(cpu::Scratch& scratch, int64_t tokens) const {
        return array().take_room(scratch, tokens);
    }
    // Rows of all tokens, or of some, then in `room`.
    Buffer buffer(PlanBuilder& builder, int64_t tokens) const;
    Buffer rows(Range tokens, float* room) const;
    void put(Range tokens, const float* rows) const;

  private:
    TokenArray array() const { return {values, columns, storage}; }
    bool in_place() const { return array().in_place(); }
};

}  // namespace sawtooth::ar_ssm

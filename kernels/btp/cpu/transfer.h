#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/btp/sizes.h"

namespace sawtooth::btp {

// The distance of rows in matrices and values of one block: one of two constants, which loops are compiled
// for. Long rows would push short blocks out of the first cache.
constexpr int64_t short_pitch = 64, long_pitch = longest_block;
constexpr int64_t pitch_of(int64_t block) { return block <= short_pitch ? short_pitch : long_pitch; }

// Calls act(pitch) with the pitch as a constant.
template <class Act>
void with_constant_pitch(int64_t pitch, Act&& act) {
    if (pitch == short_pitch) return act(std::integral_constant<int64_t, short_pitch>());
    act(std::integral_constant<int64_t, long_pitch>());
}

// Computes Lmat of a block by columns: entry (i, j) at columns[j * pitch + i], for i >= j only. Entries with
// i < j are not written or have no meaning. Rows before `first`, a multiple of 16, are left out.
void fill_columns(Construction construction, std::span<const float> gates, int64_t pitch, int64_t first,
                  float* columns);

// Computes Lmat of a block by rows, as plain products: entry (i, j) at rows[i * pitch + j], for j <= i only.
void fill_rows(std::span<const float> gates, int64_t pitch, float* rows);

}  // namespace sawtooth::btp

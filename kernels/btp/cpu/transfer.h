#pragma once

#include <cstdint>
#include <span>

#include "kernels/btp/sizes.h"

namespace sawtooth::btp {

// The positions of the largest block, which is the distance of rows in matrices and values of one block.
constexpr int64_t pitch = 64;

// Computes Lmat of a block by columns: entry (i, j) at columns[j * pitch + i], for i >= j only. Entries with
// i < j are not written or have no meaning. Rows before `first`, a multiple of 16, are left out.
void fill_columns(Construction construction, std::span<const float> gates, int64_t first, float* columns);

// Computes Lmat of a block by rows, as plain products: entry (i, j) at rows[i * pitch + j], for j <= i only.
void fill_rows(std::span<const float> gates, float* rows);

}  // namespace sawtooth::btp

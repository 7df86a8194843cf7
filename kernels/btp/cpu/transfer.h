#pragma once

#include <cstdint>
#include <span>

#include "kernels/btp/sizes.h"

namespace sawtooth::btp {

// Positions of the largest block: matrices and values of one block lie in lines of that many numbers.
constexpr int64_t pitch = 64;

// Lmat of a block by columns: entry (i, j) at columns[j * pitch + i], for i >= j only. Entries with i < j are
// not written or have no meaning. `first`, a multiple of 16, leaves out the rows before it.
void fill_columns(Construction construction, std::span<const float> gates, int64_t first, float* columns);

// The same by rows, as plain products: entry (i, j) at rows[i * pitch + j], for j <= i only.
void fill_rows(std::span<const float> gates, float* rows);

}  // namespace sawtooth::btp

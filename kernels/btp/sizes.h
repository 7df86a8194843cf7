#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/core/family.h"
#include "kernels/core/integers.h"
#include "kernels/core/range.h"

namespace sawtooth::btp {

// The carry into a block: none (one), the last value of the block before it without its own carry (two), or
// with it (full), which is the exact recurrence.
enum class Order { one, two, full };
inline Order order_of(const Parameters& parameters) {
    if (parameters.at("order") == Value(1)) return Order::one;
    return parameters.at("order") == Value(2) ? Order::two : Order::full;
}

// How the transfer matrix Lmat of a block is built from its gates.
enum class Construction { log_stable, log_difference, masked_cumprod, cumprod_ratio, exact };
Construction construction_named(std::string_view name);  // `name` must be one of the choices
Construction construction_of(const Parameters& parameters);

constexpr int64_t longest_block = 256;
// The block lengths that run on tensor cores of a GPU; all others run on its CUDA cores.
constexpr std::array<int64_t, 3> lengths_on_tensor_cores = {16, 32, 64};
inline bool is_on_tensor_cores(int64_t block) {
    return std::ranges::find(lengths_on_tensor_cores, block) != lengths_on_tensor_cores.end();
}

// The positions that a warp holds at a time on tensor cores.
inline int64_t segment_on_tensor_cores(int64_t block) { return block == 64 ? 64 : 32; }

// The channels whose sums a thread keeps on CUDA cores.
constexpr int64_t channels_of_thread = 8;

// The blocks whose positions a thread block computes on CUDA cores, one per thread.
inline int64_t blocks_of_threads(int64_t warps, int64_t block) {
    return std::max<int64_t>(1, 32 * warps / block);
}

// The blocks of a stretch, which an item of fused walks on the CPU: about 512 positions.
constexpr int64_t blocks_a_stretch(int64_t block) { return 512 / block; }

// Whether all sequences of the batch have the same gates.
inline bool shares_gates(const Parameters& parameters) { return parameters.is("gates", "shared"); }

// The sizes of a problem. The `width` channels of a head share its gates. Arrays of gates are [gate_rows,
// length], of values [heads, width, length], of carries [heads, blocks, width].
struct Sizes {
    explicit Sizes(const Parameters& p)
        : batch(p.integer("B")),
          heads(batch * p.integer("H")),
          gate_rows(shares_gates(p) ? p.integer("H") : heads),
          width(p.integer("DH")),
          length(p.integer("L")),
          block(p.integer("BL")) {}

    int64_t blocks() const { return ceil_divide(length, block); }
    int64_t rows() const { return heads * width; }
    // The row of the gates of a head.
    int64_t gate_row(int64_t head) const { return head % gate_rows; }
    // The positions of a block.
    Range positions(int64_t index) const { return tile_at(index, block, length); }

    int64_t batch, heads;  // heads of all sequences
    int64_t gate_rows;     // heads with gates of their own
    int64_t width, length, block;
};

}  // namespace sawtooth::btp

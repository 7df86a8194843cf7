#pragma once

#include <algorithm>
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

// The positions of a stretch, which an item of fused walks on the CPU.
constexpr int64_t positions_a_stretch = 512;

// The sizes of a problem. The `width` channels of a head share its gates. Arrays of gates are [heads,
// length], of values [heads, width, length], of carries [heads, blocks, width].
struct Sizes {
    explicit Sizes(const Parameters& p)
        : batch(p.integer("B")),
          heads(batch * p.integer("H")),
          width(p.integer("DH")),
          length(p.integer("L")),
          block(p.integer("BL")) {}

    int64_t blocks() const { return ceil_divide(length, block); }
    int64_t rows() const { return heads * width; }
    // The positions of a block.
    Range positions(int64_t index) const { return tile_at(index, block, length); }

    int64_t batch, heads;  // heads of all sequences
    int64_t width, length, block;
};

}  // namespace sawtooth::btp

// Matrix products in vectors: a few rows of the target by 16 columns stay in registers while the loop runs
// over `inner`.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/products.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr int step = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int parts = static_cast<int>(lanes) / step;  // vectors of a block
// A tile has two blocks where a block is one vector: half as many loads of the left factor, and enough sums
// to hide the latency of an FMA.
constexpr int most_rows = 8 / parts > 0 ? 8 / parts : 1;
constexpr int most_blocks = parts == 1 ? 2 : 1;

// Computes `height` rows of `width` blocks of the target from `row` and `block` on. Without `is_lower` all
// rows have one limit.
template <int height, int width, bool is_lower>
HWY_INLINE void multiply_tile(const Product& product, int64_t row, int64_t block, int64_t limit) {
    constexpr int vectors = width * parts;
    V sums[height][vectors];
    HWY_UNROLL(8)
    for (int r = 0; r < height; ++r) HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p) sums[r][p] = hn::Zero(tag);
    const Left& from = product.left;
    const float* left = from.values + row * from.row;
    const float* right = product.right.values + block * product.right.block;
    const auto vector_at = [](int p, int64_t size) { return p / parts * size + p % parts * step; };
    const int64_t common = std::min(limit, product.inner);
    for (int64_t k = 0; k < common; ++k, left += from.column, right += product.right.row) {
        V line[vectors];
        HWY_UNROLL(4)
        for (int p = 0; p < vectors; ++p) line[p] = hn::LoadU(tag, right + vector_at(p, product.right.block));
        HWY_UNROLL(8)
        for (int r = 0; r < height; ++r) {
            const V spread = hn::Set(tag, left[r * from.row]);
            HWY_UNROLL(4)
            for (int p = 0; p < vectors; ++p) sums[r][p] = hn::MulAdd(spread, line[p], sums[r][p]);
        }
    }
    if constexpr (is_lower) {
        HWY_UNROLL(8)
        for (int more = 0; more < height - 1; ++more) {
            if (common + more >= product.inner) break;
            HWY_UNROLL(8)
            for (int r = more + 1; r < height; ++r) {
                const V spread = hn::Set(tag, left[r * from.row + more * from.column]);
                HWY_UNROLL(4)
                for (int p = 0; p < vectors; ++p) {
                    const float* const line =
                        right + more * product.right.row + vector_at(p, product.right.block);
                    sums[r][p] = hn::MulAdd(spread, hn::LoadU(tag, line), sums[r][p]);
                }
            }
        }
    }
    float* target = product.target.values + row * product.target.row + block * product.target.block;
    HWY_UNROLL(8)
    for (int r = 0; r < height; ++r, target += product.target.row) HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p) {
        float* const to = target + vector_at(p, product.target.block);
        V value = sums[r][p];
        if (product.into == Into::add) value = hn::Add(hn::LoadU(tag, to), value);
        if (product.into == Into::subtract) value = hn::Sub(hn::LoadU(tag, to), value);
        hn::StoreU(value, tag, to);
    }
}

// All rows of `width` blocks.
template <int width, bool is_lower>
void multiply_blocks(const Product& product, int64_t block, int64_t first) {
    int64_t row = 0;
    const auto limit = [&] { return is_lower ? first + row : product.inner; };
    for (; row + most_rows <= product.rows; row += most_rows)
        multiply_tile<most_rows, width, is_lower>(product, row, block, limit());
    for (; row < product.rows; ++row) multiply_tile<1, width, is_lower>(product, row, block, limit());
}

template <bool is_lower>
void multiply_all(const Product& product, int64_t first) {
    int64_t block = 0;
    for (; block + most_blocks <= product.blocks; block += most_blocks)
        multiply_blocks<most_blocks, is_lower>(product, block, first);
    for (; block < product.blocks; ++block) multiply_blocks<1, is_lower>(product, block, first);
}

void multiply(const Product& product) { multiply_all<false>(product, 0); }
void multiply_lower(const Product& product, int64_t first) { multiply_all<true>(product, first); }
int64_t rows_together() { return most_rows; }

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::cpu {

SAWTOOTH_DISPATCH(multiply, 1)
SAWTOOTH_DISPATCH(multiply_lower, 2)
SAWTOOTH_DISPATCH(rows_together, 0)

}  // namespace sawtooth::cpu
#endif

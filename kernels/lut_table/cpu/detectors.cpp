// Lanes are items: their inputs lie side by side, so that a pair is compared for all of them at once.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lut_table/cpu/detectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/lut_table/cpu/detectors.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::lut_table::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, items_a_tile>;
constexpr Tag tag;
constexpr hn::RebindToSigned<Tag> integers;
constexpr auto width = static_cast<int64_t>(hn::MaxLanes(Tag()));

// What a detector found in each item of a tile.
struct Checked {
    alignas(64) int32_t lookup_index[items_a_tile];
    alignas(64) float min_delta[items_a_tile];
    alignas(64) int32_t min_delta_index[items_a_tile];
};

// x: [inputs, items_a_tile]. Of equal differences the first is the weakest.
HWY_INLINE void check_detector(const float* x, const int32_t* anchors, int64_t pairs, float eps,
                               Checked& found) {
    HWY_UNROLL(2)
    for (int64_t first = 0; first < items_a_tile; first += width) {
        auto bits = hn::Zero(integers), weakest = hn::Set(integers, -1);
        auto least = hn::Zero(tag);
        bool is_first = true;
        for (int64_t r = 0; r < pairs; ++r) {
            const int64_t plus = anchors[2 * r], minus = anchors[2 * r + 1];
            if (plus < 0 || minus < 0) continue;
            const auto delta = hn::Sub(hn::LoadU(tag, x + plus * items_a_tile + first),
                                       hn::LoadU(tag, x + minus * items_a_tile + first));
            const auto is_set = hn::RebindMask(integers, hn::Gt(delta, hn::Set(tag, eps)));
            bits = hn::Or(bits, hn::IfThenElseZero(is_set, hn::Set(integers, 1 << r)));
            const auto index = hn::Set(integers, static_cast<int32_t>(r));
            const auto is_weaker = hn::Lt(hn::Abs(delta), hn::Abs(least));
            least = is_first ? delta : hn::IfThenElse(is_weaker, delta, least);
            weakest = is_first ? index : hn::IfThenElse(hn::RebindMask(integers, is_weaker), index, weakest);
            is_first = false;
        }
        hn::Store(bits, integers, found.lookup_index + first);
        hn::Store(least, tag, found.min_delta + first);
        hn::Store(weakest, integers, found.min_delta_index + first);
    }
}

void check_tile(const Tensors& all, Range items, const float* x) {
    constexpr int64_t at_once = 16;  // detectors: a cache line of every result
    Checked found[at_once];
    for (int64_t first = 0; first < all.detectors; first += at_once) {
        const int64_t count = std::min(at_once, all.detectors - first);
        for (int64_t t = 0; t < count; ++t)
            check_detector(x, all.pairs + (first + t) * all.anchors * 2, all.anchors, all.eps, found[t]);
        for (int64_t item = 0; item < items.count(); ++item) {
            const int64_t at = all.found_at(items.first + item, first);
            for (int64_t t = 0; t < count; ++t) {
                all.bits.lookup_index[at + t] = found[t].lookup_index[item];
                all.bits.min_delta[at + t] = found[t].min_delta[item];
                all.bits.min_delta_index[at + t] = found[t].min_delta_index[item];
            }
        }
    }
}

}  // namespace sawtooth::lut_table::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sawtooth::lut_table {
namespace {
HWY_EXPORT(check_tile);
}  // namespace

void check_detectors(const Tensors& t, Range items, const CheckRooms& rooms) {
    const float* const all = t.x.as<float>();
    for (int64_t lane = 0; lane < items_a_tile; ++lane) {
        // Lanes past the last item repeat it.
        const float* const from = all + std::min(items.first + lane, items.last - 1) * t.inputs;
        for (int64_t i = 0; i < t.inputs; ++i) rooms.x[i * items_a_tile + lane] = from[i];
    }
    HWY_DYNAMIC_DISPATCH(check_tile)(t, items, rooms.x);
}

}  // namespace sawtooth::lut_table
#endif

// Scans of rows; row_fold.cpp has the folds.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/row_walk-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {

void scan_rows(const Walk& walk) { walk_operator<Mode::scan>(walk); }
void scan_states(const Walk& walk) { walk_operator<Mode::scan_states>(walk); }
void chain_rows(const Walk& walk) {
    with_operator(walk.op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        walk_tile<Op, Mode::scan, planes>(walk);
    });
}

int64_t vector_bytes() { return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())) * 4; }

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::cpu {
namespace {

HWY_EXPORT(scan_rows);
HWY_EXPORT(scan_states);
HWY_EXPORT(chain_rows);
HWY_EXPORT(vector_bytes);

// Whether all vectors of rows from `plane` on are aligned; the vectors of a backward column end there.
bool is_aligned(const float* plane, int64_t stride, int64_t bytes) {
    if (!plane) return true;
    const auto begin = reinterpret_cast<intptr_t>(stride == -1 ? plane + 1 : plane);
    return begin % bytes == 0 && (stride == 1 || stride == -1 || stride * 4 % bytes == 0);
}

}  // namespace

Walk streaming_where_aligned(Walk walk) {
    const int64_t bytes = HWY_DYNAMIC_DISPATCH(vector_bytes)();
    walk.stream = walk.stream && is_aligned(walk.out, walk.out_stride, bytes);
    for (const float* plane : walk.states_out.plane)
        walk.stream = walk.stream && is_aligned(plane, walk.states_out.stride, bytes);
    return walk;
}

void scan_rows(const Walk& walk) { HWY_DYNAMIC_DISPATCH(scan_rows)(streaming_where_aligned(walk)); }
void scan_states(const Walk& walk) { HWY_DYNAMIC_DISPATCH(scan_states)(streaming_where_aligned(walk)); }
void chain_rows(const Walk& walk) { HWY_DYNAMIC_DISPATCH(chain_rows)(streaming_where_aligned(walk)); }

}  // namespace sawtooth::cpu
#endif

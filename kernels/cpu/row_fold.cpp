// Folds of rows, alone and with their scan; row_scan.cpp has the scans. They are two files because each takes
// half of the time to compile.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/row_fold.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/row_walk-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {

void fold_rows(const Walk& walk) { walk_operator<Mode::fold>(walk); }
void scan_and_fold_rows(const Walk& walk) { walk_operator<Mode::scan_and_fold>(walk); }

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::cpu {
namespace {

HWY_EXPORT(scan_and_fold_rows);

}  // namespace

SAWTOOTH_DISPATCH(fold_rows, 1)

void scan_and_fold_rows(const Walk& walk) {
    HWY_DYNAMIC_DISPATCH(scan_and_fold_rows)(streaming_where_aligned(walk));
}

}  // namespace sawtooth::cpu
#endif

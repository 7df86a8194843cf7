#pragma once

#include <algorithm>

#include "kernels/cpu/plan_builder.h"
#include "kernels/lut/describe.h"
#include "kernels/lut_sequence/cpu/job.h"

namespace sawtooth::lut_sequence {

// The launches of both variants that find the bits of positions and distances.
void add_checks(cpu::PlanBuilder& builder, const CpuJob& job);

// All launches without a single pair, of sequences of one position: their sums are zero.
void add_launches_without_pairs(cpu::PlanBuilder& builder, const CpuJob& job);

// The plan of a variant: the checks, then the launches of one of the two ways to add, if there is a pair.
using AddLaunches = void (*)(cpu::PlanBuilder& builder, const CpuJob& job);
Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches of_floats, AddLaunches of_integers);

constexpr int64_t numbers_an_item = 1 << 15;  // that clearing and converting launches take at once

// A launch that sets an array to zero, if it has numbers.
template <class T>
void add_clear(cpu::PlanBuilder& builder, const ArrayUse& array, T* to) {
    const int64_t count = count_of(array.shape);
    if (count == 0) return;
    builder.launch(lut::describe::clear(array), pieces("numbers", count, numbers_an_item),
                   [to, count](const cpu::Item& item) {
                       const Range piece = tile_at(item.index, numbers_an_item, count);
                       std::fill_n(to + piece.first, piece.count(), T{});
                   });
}

}  // namespace sawtooth::lut_sequence

#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/core/launch_info.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/lut_table/cpu/job.h"
#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut_table {

// What the variants of both families launch on the CPU.

// Calls a kernel of `pass`, which the plan keeps, with the number of each item, and with its scratch if the
// kernel takes any.
template <class Pass>
cpu::PlanBuilder::Work calls(const Pass& pass, void (Pass::*kernel)(int64_t) const) {
    return [&pass, kernel](const cpu::Item& item) { (pass.*kernel)(item.index); };
}
template <class Pass>
cpu::PlanBuilder::Work calls(const Pass& pass, void (Pass::*kernel)(int64_t, cpu::Scratch) const) {
    return [&pass, kernel](const cpu::Item& item) { (pass.*kernel)(item.index, item.scratch); };
}

// A launch that calls act(range) for stretches of all numbers of an array, if it has numbers.
template <class Act>
void launch_on_numbers(cpu::PlanBuilder& builder, LaunchInfo info, const Buffer& array, Act act) {
    constexpr int64_t piece = 1 << 15;
    const int64_t count = count_of(array.shape);
    if (count == 0) return;
    builder.launch(std::move(info), pieces("numbers", count, piece),
                   [=](const cpu::Item& item) { act(tile_at(item.index, piece, count)); });
}

template <class T>
void add_clear(cpu::PlanBuilder& builder, const Buffer& array, T* to) {
    launch_on_numbers(builder, describe::clear(array), array,
                      [to](Range range) { std::fill_n(to + range.first, range.count(), T{}); });
}

// Sums that become an output: the output itself, or integers, which add_convert converts.
template <class Sum>
Sum* take_sums(PlanBuilder& builder, const Buffer& sums, float* output) {
    if constexpr (std::is_same_v<Sum, float>)
        return output;
    else
        return output ? builder.take<Sum>(count_of(sums.shape)) : nullptr;
}

template <class Sums>
void add_convert(cpu::PlanBuilder& builder, const CpuJob& job, const Sums& sums, const Buffer& array,
                 const typename Sums::Sum* from, Fault fault, float* to) {
    if (!job.integer) return;
    const bool subtracts = fault == fault_dweights && job.weights_after;
    launch_on_numbers(builder, describe::convert_integers_to_floats(builder.request(), array), array,
                      [=, &job](Range range) {
                          sums.finish(from + range.first, range.count(), fault, to + range.first);
                          if (subtracts) job.subtract_gradients(range);
                      });
}

// All launches of a variant, which has a class for them.
template <class Launches, class Job>
void add_passes(cpu::PlanBuilder& builder, const Job& job) {
    Launches launches(builder, job);
    launches.add_forward();
    if (job.dx) launches.add_backward();
}

}  // namespace sawtooth::lut_table

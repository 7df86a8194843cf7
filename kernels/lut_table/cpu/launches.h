#pragma once

#include <cstring>
#include <utility>

#include "kernels/cpu/plan_builder.h"
#include "kernels/lut_table/cpu/detectors.h"
#include "kernels/lut_table/cpu/gradients.h"
#include "kernels/lut_table/launches.h"

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

inline void add_clear(cpu::PlanBuilder& builder, const Buffer& array) {
    launch_on_numbers(builder, clear(array), array,
                      [to = static_cast<std::byte*>(array.address), size = array.element_bytes](Range range) {
                          std::memset(to + range.first * size, 0, static_cast<size_t>(range.count() * size));
                      });
}

// Sums of integers become the output.
template <class Sums>
void add_convert(cpu::PlanBuilder& builder, const Tensors& t, const Sums& sums, const Buffer& from,
                 const Buffer& output, Fault fault) {
    if (!t.integer) return;
    launch_on_numbers(
        builder, convert_integers_to_floats(t, from, output), output,
        [&t, sums, fault, all = from.as<typename Sums::Sum>(), to = output.as<float>()](Range range) {
            sums.finish(all + range.first, range.count(), fault, to + range.first);
            if (fault == fault_dweights && t.weights_after) subtract_gradients(t, range);
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

#pragma once

#include <cstring>
#include <utility>

#include "kernels/cpu/plan_builder.h"
#include "kernels/lut_table/cpu/detectors.h"
#include "kernels/lut_table/cpu/gradients.h"
#include "kernels/lut_table/launches.h"

namespace sawtooth::lut_table {

// Helpers for the CPU launches of both families.

// The work of a launch: calls a member function of `kernels`, which the plan keeps alive, with the index of
// each item, and with its scratch if the function takes any.
template <class Kernels>
cpu::PlanBuilder::Work calls(const Kernels& kernels, void (Kernels::*kernel)(int64_t) const) {
    return [&kernels, kernel](const cpu::Item& item) { (kernels.*kernel)(item.index); };
}
template <class Kernels>
cpu::PlanBuilder::Work calls(const Kernels& kernels, void (Kernels::*kernel)(int64_t, cpu::Scratch) const) {
    return [&kernels, kernel](const cpu::Item& item) { (kernels.*kernel)(item.index, item.scratch); };
}

// Adds a launch that calls act(range) for tiles of the numbers of an array; an empty array needs none.
template <class Act>
void launch_on_numbers(cpu::PlanBuilder& builder, LaunchInfo info, const Buffer& array, Act act) {
    constexpr int64_t tile = 1 << 15;
    const int64_t count = count_of(array.shape);
    if (count == 0) return;
    builder.launch(std::move(info), pieces("numbers", count, tile),
                   [=](const cpu::Item& item) { act(tile_at(item.index, tile, count)); });
}

inline void add_clear(cpu::PlanBuilder& builder, const Buffer& array) {
    launch_on_numbers(builder, clear(array), array,
                      [to = static_cast<std::byte*>(array.address), size = array.element_bytes](Range range) {
                          std::memset(to + range.first * size, 0, static_cast<size_t>(range.count() * size));
                      });
}

// Adds the launch that turns integer sums into the output; float sums need none.
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

// Adds the launches of a variant, which the class Launches knows.
template <class Launches, class Job>
void add_passes(cpu::PlanBuilder& builder, const Job& job) {
    Launches launches(builder, job);
    launches.add_forward();
    if (job.dx) launches.add_backward();
}

}  // namespace sawtooth::lut_table

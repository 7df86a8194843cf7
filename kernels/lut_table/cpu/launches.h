#pragma once

#include <atomic>
#include <bit>
#include <cmath>
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

// Adds the launches that divide final gradients by their largest magnitude. Bits of numbers without a sign
// are ordered like the numbers, with NaN as the largest.
inline void add_normalise(cpu::PlanBuilder& builder, const Buffer& gradients) {
    if (count_of(gradients.shape) == 0) return;
    const Buffer largest = builder.take<uint32_t>("largest_" + gradients.name, {1});
    float* const all = gradients.as<float>();
    add_clear(builder, largest);
    launch_on_numbers(builder, largest_gradient(gradients, largest), gradients,
                      [all, to = largest.as<uint32_t>()](Range range) {
                          uint32_t most = 0;
                          for (int64_t i = range.first; i < range.last; ++i)
                              most = std::max(most, std::bit_cast<uint32_t>(std::abs(all[i])));
                          const std::atomic_ref shared(*to);
                          uint32_t before = shared.load(std::memory_order_relaxed);
                          while (before < most)
                              if (shared.compare_exchange_weak(before, most)) break;
                      });
    launch_on_numbers(builder, normalise_gradients(gradients, largest), gradients,
                      [all, from = largest.as<float>()](Range range) {
                          const float by = *from < least_divisor ? least_divisor : *from;
                          for (int64_t i = range.first; i < range.last; ++i) all[i] /= by;
                      });
}

// Adds the launches that follow the final gradients and the updated weights.
inline void finish_gradients(cpu::PlanBuilder& builder, const Tensors& t, const Buffers& gradients) {
    if (t.normalises)
        for (const Buffer& array : gradients) add_normalise(builder, array);
    if (!t.weights_after || !t.limits.exist()) return;
    launch_on_numbers(builder, limit_weights(t), t.weights_after,
                      [all = t.weights_after.as<float>(), limits = t.limits](Range range) {
                          for (int64_t i = range.first; i < range.last; ++i)
                              all[i] = all[i] < limits.least  ? limits.least
                                       : all[i] > limits.most ? limits.most
                                                              : all[i];  // NaN, too
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

#pragma once

#include <string>

#include "kernels/core/plan_builder.h"
#include "kernels/core/range.h"
#include "kernels/lut_table/records.cuh"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// The results of the detectors, which are outputs.
struct FoundArrays {
    // The names of the arrays begin with `prefix`.
    FoundArrays(PlanBuilder& builder, const std::string& prefix);

    Buffers all() const { return {lookup_index, min_delta, min_delta_index}; }
    Found pointers() const;

    Buffer lookup_index, min_delta, min_delta_index;
};

// Events and their number in each group. On a GPU all events are one group; on the CPU the events of each
// owner are.
struct EventArrays {
    EventArrays() = default;
    template <class Event>
    static EventArrays take(PlanBuilder& builder, const std::string& prefix, int64_t most, Shape groups) {
        EventArrays taken;
        taken.events = builder.take<Event>(prefix + "events", {most});
        taken.count = builder.take<int32_t>(prefix + "event_count", std::move(groups));
        return taken;
    }

    EventArrays in_groups(int64_t groups) const;
    Buffers all() const { return {events, count}; }
    template <class Event>
    Events<Event> pointers() const {
        return {events.as<Event>(), count.as<int32_t>(), events ? count_of(events.shape) : 0};
    }

    Buffer events, count;
};

// The choices of every detector, sorted by row: [detectors, choices].
struct Sorted {
    Buffer rows, items;
};

// The arrays of both families. An item is an element of the batch, in lut_sequence a position. Gradients are
// absent without a backward pass, and `weights_after` is absent unless weights are updated.
struct Tensors : Sizes {
    explicit Tensors(PlanBuilder& builder);

    // The sums that become an output: the output itself, or integers, which another launch converts.
    Buffer sums_of(PlanBuilder& builder, const Buffer& output) const;
    // Takes memory for sums that are not an output.
    Buffer take_sums(PlanBuilder& builder, std::string name, Shape shape) const;
    // The same, zeroed when the plan is built.
    Buffer take_zeroed_sums(PlanBuilder& builder, std::string name, Shape shape) const;
    // `choices` is the number of times that a detector chooses a row.
    Sorted take_sorted(PlanBuilder& builder, const char* items_name, int64_t choices) const;

    // Copies the weights to weights_after before every run; launches then subtract float gradients from it.
    void restore_weights(PlanBuilder& builder) const;

    int64_t sum_bytes() const { return integer ? 8 : 4; }
    // Whether gradients are subtracted from weights_after where they are added to dweights. Integer ones are
    // subtracted after their conversion instead.
    bool subtracts() const { return weights_after && !integer; }
    // The weights and how they are connected.
    Buffers tables() const { return {offsets, targets, weights}; }
    // The number of weights of a neuron; if sparse, the average.
    double row() const {
        return static_cast<double>(count_of(weights.shape)) / static_cast<double>(neurons());
    }
    double row_bytes() const { return sparse ? 8 * row() + 4 : 4 * row(); }  // targets and an offset included
    double sum_row_bytes() const { return row() * static_cast<double>(sum_bytes()); }

    // The rest is for kernels on the CPU.
    int64_t found_at(int64_t item, int64_t detector) const { return item * detectors + detector; }
    int64_t neuron(int64_t item, int64_t detector) const {
        return detector * rows + bits.lookup_index[found_at(item, detector)];
    }
    // The neuron with the weakest bit flipped; -1 if the detector skips all pairs.
    int64_t alternative(int64_t item, int64_t detector) const {
        const int32_t weakest = bits.min_delta_index[found_at(item, detector)];
        return weakest < 0 ? -1 : neuron(item, detector) ^ (int64_t{1} << weakest);
    }
    // The weights of a neuron, as a range of `weights`.
    Range weights_of(int64_t neuron) const {
        if (!sparse) return {neuron * outputs, (neuron + 1) * outputs};
        return {table.offsets[neuron], table.offsets[neuron + 1]};
    }
    Range outputs_of(int64_t block) const {
        return {outputs * block / output_blocks, outputs * (block + 1) / output_blocks};
    }
    const float* dy_of(int64_t item) const { return dy_rows + item * outputs; }

    int64_t items, output_blocks;
    double lr;
    bool normalises;
    WeightLimits limits;

    Buffer x;                        // [items, inputs]
    Buffer anchor_pairs;             // [detectors, anchors, 2]
    Buffer weights;                  // [detectors, rows, outputs] or [synapses]
    Buffer offsets, targets;         // absent unless sparse
    Buffer metas, meta_rates;        // absent unless a backward pass reads rates of synapses
    FoundArrays found;               // [items, detectors]
    Buffer y, dx, dy;                // [items, outputs or inputs]
    Buffer dweights, weights_after;  // in the shape of `weights`
    // The same as kernels on the CPU take them.
    Table table;
    Found bits;
    const int32_t* pairs;
    const float* dy_rows;
};

}  // namespace sawtooth::lut_table

#pragma once

#include <string>

#include "kernels/core/plan_builder.h"
#include "kernels/core/range.h"
#include "kernels/lut_table/records.cuh"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// What the detectors found: outputs.
struct FoundArrays {
    // Their names begin with `prefix`.
    FoundArrays(PlanBuilder& builder, const std::string& prefix);

    Buffers all() const { return {lookup_index, min_delta, min_delta_index}; }
    Found pointers() const;

    Buffer lookup_index, min_delta, min_delta_index;
};

// Events, and their number in each group: all are one group on a GPU, on the CPU those of an owner are one.
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

// The arrays of both families. An item is one of the batch; of lut_sequence, a position. Gradients are absent
// without a backward pass, and `weights_after` is unless weights are updated.
struct Tensors : Sizes {
    explicit Tensors(PlanBuilder& builder);

    // The sums that become an output: the output itself, or integers, which another launch converts.
    Buffer sums_of(PlanBuilder& builder, const Buffer& output) const;
    // Other sums.
    Buffer take_sums(PlanBuilder& builder, std::string name, Shape shape) const;
    // Zeros when the plan is built.
    Buffer take_zeroed_sums(PlanBuilder& builder, std::string name, Shape shape) const;
    // `choices`: how often a detector chooses a row.
    Sorted take_sorted(PlanBuilder& builder, const char* items_name, int64_t choices) const;

    // Before every run weights_after is the weights: floats are subtracted where they are added.
    void restore_weights(PlanBuilder& builder) const;

    int64_t sum_bytes() const { return integer ? 8 : 4; }
    // Floats are subtracted from the weights where they are added to dweights, integers once they are floats.
    bool subtracts() const { return weights_after && !integer; }
    // Weights and how they are connected.
    Buffers tables() const { return {offsets, targets, weights}; }
    // Weights of a neuron: with synapses, on average.
    double row() const {
        return static_cast<double>(count_of(weights.shape)) / static_cast<double>(neurons());
    }
    double row_bytes() const { return row() * (sparse ? 8 : 4); }  // with targets
    double sum_row_bytes() const { return row() * static_cast<double>(sum_bytes()); }

    // On the CPU:
    int64_t found_at(int64_t item, int64_t detector) const { return item * detectors + detector; }
    int64_t neuron(int64_t item, int64_t detector) const {
        return detector * rows + bits.lookup_index[found_at(item, detector)];
    }
    // With the weakest bit flipped; -1 if the detector skips all pairs.
    int64_t alternative(int64_t item, int64_t detector) const {
        const int32_t weakest = bits.min_delta_index[found_at(item, detector)];
        return weakest < 0 ? -1 : neuron(item, detector) ^ (int64_t{1} << weakest);
    }
    // Of the numbers in `weights`.
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

    Buffer x;                        // [items, inputs]
    Buffer anchor_pairs;             // [detectors, anchors, 2]
    Buffer weights;                  // [detectors, rows, outputs] or [synapses]
    Buffer offsets, targets;         // absent unless sparse
    Buffer metas, meta_rates;        // if there are rates of synapses, which a backward pass reads
    FoundArrays found;               // [items, detectors]
    Buffer y, dx, dy;                // [items, outputs or inputs]
    Buffer dweights, weights_after;  // in the shape of `weights`
    // As kernels take them:
    Table table;
    Found bits;
    const int32_t* pairs;
    const float* dy_rows;
};

}  // namespace sawtooth::lut_table

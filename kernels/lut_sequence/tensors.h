#pragma once

#include "kernels/lut_sequence/events.h"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut_sequence {

using namespace lut_table;

// The arrays of the family. An item of lut_table is a position here, number b S + j.
struct Tensors : lut_table::Tensors {
    explicit Tensors(PlanBuilder& builder)
        : lut_table::Tensors(builder),
          sizes(builder.parameters()),
          positional(builder.input("positional")),
          dpositional(builder.output("dpositional")),
          distances(builder, "positional_"),
          distance_bits(distances.pointers()) {}

    Buffers lookup_indices() const { return {found.lookup_index, distances.lookup_index}; }
    Buffers all_found() const { return found.all() + distances.all(); }

    lut_sequence::Sizes sizes;
    Buffer positional, dpositional;  // [S - 1, T, P]
    FoundArrays distances;           // [S - 1, T]
    Found distance_bits;             // `distances` as kernels on the CPU take them
};

// The arrays that launches of unfused pass on. Alternative events, gradients and the hash table are absent
// without a backward pass.
struct Passed {
    // `groups` is the shape of the counts of events.
    Passed(PlanBuilder& builder, const Tensors& t, const Shape& groups)
        : y(t.sums_of(builder, t.y)),
          dx(t.sums_of(builder, t.dx)),
          dpositional(t.sums_of(builder, t.dpositional)),
          dweights(t.sums_of(builder, t.dweights)),
          events(EventArrays::take<Event>(builder, "", most_events(t.sizes, main_events), groups)) {
        const Sizes& s = t.sizes;
        if (s.statistic) {
            const Shape shape = {s.batch, s.length, s.neurons()};
            firing_stat = {"firing_stat", shape, 4, Storage::f32,
                           builder.take_zeroed<float>(count_of(shape))};
        }
        if (!t.dx) return;
        alternative =
            EventArrays::take<Event>(builder, "alternative_", most_events(s, alternative_events), groups);
        hash_table = builder.take<HashEntry>("hash_table", {s.batch, s.hash_width()});
        if (s.integer) hash_table_high = builder.take<int32_t>("hash_table_high", {s.batch, s.hash_width()});
    }

    Buffers all_events() const { return events.all() + alternative.all(); }

    Buffer y, dx, dpositional, dweights;  // sums
    EventArrays events, alternative;
    Buffer firing_stat;  // absent if events go to the buffers
    Buffer hash_table, hash_table_high;
};

// The arrays that launches of fused pass on in a backward pass: du of every pair and detector, in the order
// in which the backend reads them. `positional_du` is absent without positional bits.
struct PairGradients {
    PairGradients(PlanBuilder& builder, const Tensors& t, const Shape& order)
        : du(t.take_sums(builder, "du", order)),
          positional_du(t.sizes.positional > 0 ? t.take_sums(builder, "positional_du", order) : Buffer()) {}

    Buffer du, positional_du;
};

}  // namespace sawtooth::lut_sequence

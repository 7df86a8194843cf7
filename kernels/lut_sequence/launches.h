#pragma once

// The launches of all variants, on both backends; kernels of the document (lut_table::source) keep its names.
// How many events there are depends on the data. Work counts a main and an alternative event per pair and
// detector; where equal events are merged, it counts the average number if all rows of a table are equally
// likely.

#include <cmath>

#include "kernels/lut_sequence/tensors.h"
#include "kernels/lut_table/launches.h"

namespace sawtooth::lut_sequence {

// The number of main events of all pairs and detectors, through the buffer, and (merged_events) after equal
// ones are merged.
inline double pair_events(const Tensors& t) {
    return static_cast<double>(t.sizes.batch * t.detectors * t.sizes.pairs());
}
inline double merged_events(const Tensors& t) {
    // The rows of a position have the same query bits, so only the others distinguish them.
    const double likely = std::ldexp(1.0, static_cast<int>(t.anchors + t.sizes.positional));
    double of_sequence = 0;
    for (int64_t j = 1; j < t.sizes.length; ++j)
        of_sequence += likely * (1 - std::pow(1 - 1 / likely, static_cast<double>(j)));
    return of_sequence * static_cast<double>(t.sizes.batch * t.detectors);
}
inline double kept_events(const Tensors& t) { return t.sizes.statistic ? merged_events(t) : pair_events(t); }
inline double kinds(const Tensors& t) { return t.dx ? 2 : 1; }  // kinds of events
inline double slot_bytes(const Tensors& t) { return sizeof(HashEntry) + (t.integer ? 4 : 0); }

inline LaunchInfo check_detectors_for_sequence(const Tensors& t) {
    return {
        .name = "check_detectors_for_sequence",
        .meaning =
            "Compares the pairs of inputs of each detector at each position: its bits, and its weakest pair.",
        .reads = {t.x, t.anchor_pairs},
        .writes = t.found.all(),
        .work = {.operations = 2 * static_cast<double>(t.items * t.detectors * t.anchors)}};
}

inline LaunchInfo check_positional_embeddings(const Tensors& t) {
    return {.name = "check_positional_embeddings",
            .meaning = "Compares the values of each distance with zero: its bits, and its weakest value.",
            .reads = {t.positional},
            .writes = t.distances.all(),
            .work = {.operations = static_cast<double>(count_of(t.positional.shape))}};
}

// If only the forward pass runs, this launch and densify_firing_stat make main events only.
inline LaunchInfo fill_after_detectors_firing_stat(const Tensors& t, const Passed& p) {
    const std::string rows = t.dx ? "row, and for the rows with a weakest bit flipped." : "row.";
    const Buffers found = t.dx ? t.all_found() : t.lookup_indices();
    const double events = kinds(t) * pair_events(t), offsets = t.sparse ? 8 : 0;
    return {
        .name = "fill_after_detectors_firing_stat",
        .meaning =
            (t.sizes.statistic ? "Counts in the dense statistic how often each pair and detector chooses a "
                               : "Adds an event for each pair and detector and its chosen ") +
            rows,
        .reads = found + Buffers{t.offsets},
        .writes = t.sizes.statistic ? Buffers{p.firing_stat} : p.all_events(),
        .work = {.bytes = bytes_of(found) +
                          events * (offsets + (t.sizes.statistic ? 4 : static_cast<double>(sizeof(Event))))}};
}

// The statistic is zero when the plan is built, and afterwards because this launch clears what it reads.
inline LaunchInfo densify_firing_stat(const Tensors& t, const Passed& p) {
    return {.name = "densify_firing_stat",
            .meaning = "Turns the statistic into events with counts, and clears it.",
            .reads = {p.firing_stat},
            .writes = Buffers{p.firing_stat} + p.all_events(),
            .work = {.bytes = p.firing_stat.bytes() + kinds(t) * merged_events(t) * (4 + sizeof(Event))}};
}

inline LaunchInfo fill_outputs_by_sparse_firings(const Tensors& t, const Passed& p) {
    return {.name = "fill_outputs_by_sparse_firings",
            .meaning =
                "Adds the row of each event, times its count, to y at its position, for a block of outputs.",
            .reads = p.events.all() + t.tables(),
            .writes = {p.y},
            .work = {.bytes = kept_events(t) * (sizeof(Event) + t.row_bytes() + t.sum_row_bytes()),
                     .operations = 2 * kept_events(t) * t.row()}};
}

inline LaunchInfo gather_x_gradients_for_sequence(const Tensors& t, const Passed& p, Choice choice) {
    const bool main = choice == Choice::main;
    return {
        .name = "gather_x_gradients_for_sequence",
        .meaning = main
                       ? "Adds weight times dy of the row of each event to the hash table, once for each row "
                         "and position."
                       : "The same for alternative events, where no main event has done it.",
        .reads = (main ? p.events : p.alternative).all() + Buffers{t.dy} + t.tables() + Buffers{p.hash_table},
        .writes = {p.hash_table, p.hash_table_high},
        .work = {.bytes = kept_events(t) * (sizeof(Event) + sizeof(HashEntry)) +
                          merged_events(t) * (t.row_bytes() + 4 * t.row() + slot_bytes(t)),
                 .operations = 2 * merged_events(t) * t.row()}};
}

inline LaunchInfo gather_w_gradients_for_sequence(const Tensors& t, const Passed& p) {
    const double events = kept_events(t), with_target = t.sparse ? 8 : 4;
    return {.name = "gather_w_gradients_for_sequence",
            .meaning = "Adds dy times the count and lr to the gradient of the row of each event.",
            .reads = p.events.all() + Buffers{t.dy, t.offsets, t.targets, t.metas, t.meta_rates},
            .writes = gradients_of_weights(t, p.dweights),
            .work = {.bytes = events * (sizeof(Event) + t.row() * with_target + written_gradients(t, 1)) +
                              read_rates(t, events),
                     .operations = 3 * events * t.row()}};
}

inline LaunchInfo propagate_through_detectors_for_sequence(const Tensors& t, const Passed& p) {
    const Buffers once = t.all_found() + Buffers{t.anchor_pairs};
    return {
        .name = "propagate_through_detectors_for_sequence",
        .meaning =
            "Looks up the sums of each pair and detector in the hash table, and adds their difference times "
            "the surrogate gradient to two inputs, and to a positional value.",
        .reads = once + Buffers{p.hash_table, p.hash_table_high},
        .writes = {p.dx, t.sizes.positional > 0 ? p.dpositional : Buffer()},
        .work = {.bytes = bytes_of(once) +
                          2 * pair_events(t) * (slot_bytes(t) + static_cast<double>(t.sum_bytes())),
                 .operations = 8 * pair_events(t)}};
}

// The launches of the variant fused follow.
inline LaunchInfo look_up_pairs(const Tensors& t) {
    return {.name = "look_up_pairs",
            .meaning = "Sums the rows that each position chooses with all earlier ones into y.",
            .reads = t.lookup_indices() + t.tables(),
            .writes = {t.y},
            .work = {.bytes = bytes_of(t.lookup_indices()) + pair_events(t) * t.row_bytes() + t.y.bytes(),
                     .operations = pair_events(t) * (1 + t.row())}};  // 1: the row from the bits
}

inline LaunchInfo pair_gradients(const Tensors& t, const PairGradients& to) {
    const Buffers found = t.all_found() + Buffers{t.dy};
    return {.name = "pair_gradients",
            .meaning =
                "Multiplies dy with the difference of the chosen row and the row with a weakest bit flipped, "
                "for each pair and detector, and applies the surrogate gradient.",
            .reads = found + t.tables(),
            .writes = {to.du, to.positional_du},
            .work = {.bytes = bytes_of(found) + 2 * pair_events(t) * t.row_bytes() + to.du.bytes() +
                              (to.positional_du ? to.positional_du.bytes() : 0),
                     .operations = 4 * pair_events(t) * t.row()}};
}

inline LaunchInfo position_gradients(const Tensors& t, const Buffer& du) {
    return {.name = "position_gradients",
            .meaning = "Sums du over the pairs of each position, as the later or the earlier one, into dx.",
            .reads = {du, t.found.min_delta, t.found.min_delta_index, t.anchor_pairs},
            .writes = {t.dx},
            .work = {.operations = pair_events(t)}};
}

inline LaunchInfo distance_gradients(const Tensors& t, const Buffer& positional_du) {
    return {.name = "distance_gradients",
            .meaning = "Sums the positional du over all pairs of each distance.",
            .reads = {positional_du, t.distances.min_delta_index},
            .writes = {t.dpositional},
            .work = {.operations = pair_events(t)}};
}

inline LaunchInfo sort_by_neuron(const Tensors& t, const Sorted& sorted) {
    return {.name = "sort_by_neuron",
            .meaning = "Sorts the pairs of each detector by the row that they chose.",
            .reads = t.lookup_indices(),
            .writes = {sorted.rows, sorted.items}};
}

inline LaunchInfo weight_gradients(const Tensors& t, const Sorted& sorted) {
    return lut_table::weight_gradients(t, "Sums dy over the pairs that chose each row.", sorted,
                                       pair_events(t));
}

}  // namespace sawtooth::lut_sequence

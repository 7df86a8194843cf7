#pragma once

// The launches of all variants, on both backends; kernels of the document (lut_table::source) keep its names.

#include "kernels/lut/tensors.h"
#include "kernels/lut_table/launches.h"

namespace sawtooth::lut {

// The number of rows that all detectors of all items choose.
inline double choices(const Tensors& t) { return static_cast<double>(t.batch * t.detectors); }
inline double row_reads(const Tensors& t) { return choices(t) * t.row(); }
inline double rows_bytes(const Tensors& t) { return choices(t) * t.row_bytes(); }

inline double checks(const Tensors& t) { return 2 * choices(t) * static_cast<double>(t.anchors); }
// The bytes of the comparisons: the thread blocks of every item read all anchors again.
inline double check_bytes(const Tensors& t) {
    return t.x.bytes() + static_cast<double>(t.batch) * t.anchor_pairs.bytes() + bytes_of(t.found.all());
}

inline LaunchInfo check_detectors(const Tensors& t) {
    return {.name = "check_detectors",
            .meaning = "Compares the pairs of each detector: its bits, and its weakest pair.",
            .reads = {t.x, t.anchor_pairs},
            .writes = t.found.all(),
            .work = {.bytes = check_bytes(t), .operations = checks(t)}};
}

inline LaunchInfo fire_detectors(const Tensors& t, const EventArrays& events) {
    return {
        .name = "fire_detectors",
        .meaning =
            "Compares the pairs of each detector, and adds an event for each chosen row with synapses.",
        .reads = {t.x, t.anchor_pairs, t.offsets},
        .writes = t.found.all() + events.all(),
        .work = {.bytes = check_bytes(t) + 8 * choices(t) + bytes_of(events.all()), .operations = checks(t)}};
}

inline LaunchInfo fill_outputs_by_forward_groups(const Tensors& t, const EventArrays& events,
                                                 const Buffer& y) {
    return {.name = "fill_outputs_by_forward_groups",
            .meaning = "Adds the synapses of each event to y, a group at a time, for a block of outputs.",
            .reads = events.all() + t.tables(),
            .writes = {y},
            .work = {.bytes = events.events.bytes() + rows_bytes(t) + choices(t) * t.sum_row_bytes(),
                     .operations = row_reads(t)}};
}

inline LaunchInfo fill_outputs_fully_connected(const Tensors& t, const Buffer& y) {
    return {.name = "fill_outputs_fully_connected",
            .meaning = "Adds the chosen row of each detector to y, for a block of outputs.",
            .reads = {t.found.lookup_index, t.weights},
            .writes = {y},
            .work = {.bytes = 4 * choices(t) + rows_bytes(t) + choices(t) * t.sum_row_bytes(),
                     .operations = row_reads(t)}};
}

inline LaunchInfo fire_detectors_by_lookup_indices(const Tensors& t, const EventArrays& events,
                                                   const EventArrays& alternative) {
    return {.name = "fire_detectors_by_lookup_indices",
            .meaning =
                "Adds an event for the chosen row of each detector, and one for the row with its weakest bit "
                "flipped.",
            .reads = {t.found.lookup_index, t.found.min_delta_index, t.offsets},
            .writes = events.all() + alternative.all()};
}

// `events` are the events of `choice`.
inline LaunchInfo gather_gradients(const Tensors& t, const Passed& p, const EventArrays& events,
                                   Choice choice) {
    const double read = events.events.bytes() + rows_bytes(t) + 4 * row_reads(t),
                 sums = p.gradient_sums.bytes() / 2;
    if (choice == Choice::alternative)
        return {.name = "gather_gradients",
                .meaning = "Adds weight times dy of the synapses of each alternative event to its sum.",
                .reads = events.all() + Buffers{t.dy} + t.tables(),
                .writes = {p.gradient_sums},
                .work = {.bytes = read + sums, .operations = 2 * row_reads(t)}};
    return {.name = "gather_gradients",
            .meaning = "Adds weight times dy of the synapses of each event to its sum, and dy to dweights.",
            .reads = events.all() + Buffers{t.dy, t.metas, t.meta_rates} + t.tables(),
            .writes = Buffers{p.gradient_sums} + gradients_of_weights(t, p.dweights),
            .work = {.bytes = read + sums + read_rates(t, choices(t)) + written_gradients(t, choices(t)),
                     .operations = 4 * row_reads(t)}};
}

inline LaunchInfo gather_x_gradients_fully_connected(const Tensors& t, const Passed& p, Choice choice) {
    const bool main = choice == Choice::main;
    return {.name = "gather_x_gradients_fully_connected",
            .meaning = main ? "Adds weight times dy of the chosen row of each detector to its sum."
                            : "Adds weight times dy of the row with the weakest bit flipped to its sum.",
            .reads = {t.found.lookup_index, main ? Buffer() : t.found.min_delta_index, t.dy, t.weights},
            .writes = {p.gradient_sums},
            .work = {.bytes = (main ? 4 : 8) * choices(t) + rows_bytes(t) + t.dy.bytes() +
                              p.gradient_sums.bytes() / 2,
                     .operations = 2 * row_reads(t)}};
}

inline LaunchInfo gather_w_gradients_fully_connected(const Tensors& t, const Passed& p) {
    return {.name = "gather_w_gradients_fully_connected",
            .meaning = "Adds dy times lr to the gradient of the chosen row of each detector.",
            .reads = {t.found.lookup_index, t.dy},
            .writes = gradients_of_weights(t, p.dweights),
            .work = {.bytes = 4 * choices(t) + t.dy.bytes() + written_gradients(t, choices(t)),
                     .operations = 2 * row_reads(t)}};
}

inline LaunchInfo propagate_through_detectors(const Tensors& t, const Passed& p) {
    const double two = 2 * choices(t);  // a detector has two sums, a pair has two anchors
    return {.name = "propagate_through_detectors",
            .meaning =
                "Multiplies the difference of the two sums of each detector by the surrogate gradient, adds "
                "it to the two inputs of the weakest pair, and clears the sums.",
            .reads = {t.found.min_delta, t.found.min_delta_index, t.anchor_pairs, p.gradient_sums},
            .writes = {p.dx, p.gradient_sums},
            .work = {
                .bytes = 4 * two + 2 * p.gradient_sums.bytes() + two * static_cast<double>(4 + t.sum_bytes()),
                .operations = 6 * choices(t)}};
}

// The launches of the variant fused follow.
inline LaunchInfo look_up(const Tensors& t) {
    return {.name = "look_up",
            .meaning = "Compares the pairs of every detector, then sums the chosen rows.",
            .reads = Buffers{t.x, t.anchor_pairs} + t.tables(),
            .writes = t.found.all() + Buffers{t.y},
            .work = {.bytes = t.x.bytes() + t.anchor_pairs.bytes() + bytes_of(t.found.all()) + rows_bytes(t) +
                              t.y.bytes(),
                     .operations = checks(t) + row_reads(t)}};
}

// Of tables in slices (cuda/slices.cuh): `choices` are the two rows that every item chooses of every table.
inline LaunchInfo choose_rows(const Tensors& t, const Buffer& choices) {
    return {.name = "choose_rows",
            .meaning = "Compares the pairs of every detector, and lists the rows that items choose.",
            .reads = {t.x, t.anchor_pairs},
            .writes = t.found.all() + Buffers{choices},
            .work = {.operations = checks(t)}};
}

// `sums` is y, or one array of its shape for each part of the detectors.
inline LaunchInfo look_up_in_slices(const Tensors& t, const Buffer& choices, const Buffer& sums) {
    return {.name = "look_up_in_slices",
            .meaning = "Sums the chosen rows of tables that pass through shared memory in slices.",
            .reads = {choices, t.weights},
            .writes = {sums},
            .work = {.operations = row_reads(t)}};
}

inline LaunchInfo add_parts(const Tensors& t, const Buffer& sums) {
    return {.name = "add_parts",
            .meaning = "Adds the sums of the parts of the detectors.",
            .reads = {sums},
            .writes = {t.y},
            .work = {.operations = static_cast<double>(count_of(sums.shape))}};
}

inline LaunchInfo detector_gradients(const Tensors& t, const Buffer& choices, const Buffer& slices) {
    return {.name = "detector_gradients",
            .meaning =
                "Multiplies dy with the difference of the chosen row and the row with the weakest bit "
                "flipped, for slices of the outputs, from tables in shared memory.",
            .reads = {choices, t.weights, t.dy},
            .writes = {slices},
            .work = {.operations = 3 * row_reads(t)}};
}

// `slices` are those of detector_gradients, if there are any.
inline LaunchInfo input_gradients(const Tensors& t, const Buffer& slices = {}) {
    if (slices)
        return {.name = "input_gradients",
                .meaning =
                    "Adds the slices of each detector's gradient, and adds the result to the two inputs "
                    "of its weakest pair.",
                .reads = t.found.all() + Buffers{t.anchor_pairs, slices},
                .writes = {t.dx},
                .work = {.operations = static_cast<double>(count_of(slices.shape)) + 4 * choices(t)}};
    const Buffers once = t.found.all() + Buffers{t.anchor_pairs, t.dy};
    return {
        .name = "input_gradients",
        .meaning =
            "Multiplies dy with the difference of the chosen row and the row with the weakest bit "
            "flipped, and adds the result to the two inputs of that pair.",
        .reads = once + t.tables(),
        .writes = {t.dx},
        .work = {.bytes = bytes_of(once) + 2 * rows_bytes(t) + t.dx.bytes(), .operations = 4 * row_reads(t)}};
}

inline LaunchInfo sort_by_neuron(const Tensors& t, const Sorted& sorted) {
    return {.name = "sort_by_neuron",
            .meaning = "Sorts the items of each detector by the row that they chose.",
            .reads = {t.found.lookup_index},
            .writes = {sorted.rows, sorted.items}};
}

inline LaunchInfo weight_gradients(const Tensors& t, const Sorted& sorted) {
    return lut_table::weight_gradients(t, "Sums dy over the items that chose each row.", sorted, choices(t));
}

}  // namespace sawtooth::lut

#pragma once

// Descriptions of launches of both families, for both backends: what they mean, read, write and compute. Work
// counts the rows of tables that are read, and an atomic addition as one write.

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/core/launch.h"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut_table {

// Whether a launch takes the chosen rows of detectors, or those with the weakest bit flipped.
enum class Choice { main, alternative };

// "clear_y": fills an array with zeros before other launches add to it.
inline LaunchInfo clear(const Buffer& array) {
    return {.name = "clear_" + array.name,
            .meaning = "Sets " + array.name + " to zero, as others add to it.",
            .writes = {array}};
}

// Converted dweights are also subtracted from the weights if that is the policy.
inline LaunchInfo convert_integers_to_floats(const Tensors& t, const Buffer& sums, const Buffer& output) {
    LaunchInfo info = {.name = "convert_integers_to_floats",
                       .meaning = "Divides the integer sums of " + output.name + " by 2^20 and by rescale.",
                       .reads = {sums},
                       .writes = {output},
                       .work = {.operations = 2 * static_cast<double>(count_of(output.shape))}};
    if (output != t.dweights || !t.weights_after) return info;
    info.reads.push_back(t.weights);
    info.writes.push_back(t.weights_after);
    return info;
}

// The arrays written by a launch that adds to the gradients of weights; `dweights` are sums.
inline Buffers gradients_of_weights(const Tensors& t, const Buffer& dweights) {
    return {dweights, t.subtracts() ? t.weights_after : Buffer()};
}
// The bytes written for the gradients of `choices` rows.
inline double written_gradients(const Tensors& t, double choices) {
    return choices * t.sum_row_bytes() * (t.subtracts() ? 2 : 1);
}
inline double read_rates(const Tensors& t, double choices) { return t.metas ? 4 * choices * t.row() : 0; }

// Finds the largest magnitude of gradients, which are final; `largest` begins as 0.
inline LaunchInfo largest_gradient(const Buffer& gradients, const Buffer& largest) {
    return {.name = "largest_gradient",
            .meaning = "Finds the largest magnitude in " + gradients.name + ", or NaN if there is one.",
            .reads = {gradients},
            .writes = {largest},
            .work = {.operations = static_cast<double>(count_of(gradients.shape))}};
}

inline LaunchInfo normalise_gradients(const Buffer& gradients, const Buffer& largest) {
    return {.name = "normalise_gradients",
            .meaning = "Divides " + gradients.name + " by its largest magnitude, but at least by 1e-16.",
            .reads = {gradients, largest},
            .writes = {gradients},
            .work = {.operations = static_cast<double>(count_of(gradients.shape))}};
}

inline LaunchInfo limit_weights(const Tensors& t) {
    return {.name = "limit_weights",
            .meaning = "Sets updated weights beyond weight_min or weight_max to that limit.",
            .reads = {t.weights_after},
            .writes = {t.weights_after},
            .work = {.operations = 2 * static_cast<double>(count_of(t.weights_after.shape))}};
}

// The variant fused: computes dweights of every neuron from dy of the items that chose it, which `sorted`
// lists. `choices` counts the choices of all detectors.
inline LaunchInfo weight_gradients(const Tensors& t, std::string meaning, const Sorted& sorted,
                                   double choices) {
    Buffers reads = {sorted.rows, sorted.items}, writes = {t.dweights};
    for (const Buffer& array : {t.offsets, t.targets, t.metas, t.meta_rates})
        if (array) reads.push_back(array);
    if (t.weights_after) {
        reads.push_back(t.weights);
        writes.push_back(t.weights_after);
    }
    const double bytes = bytes_of(reads) + bytes_of(writes) + 4 * choices * t.row();  // dy
    reads.insert(reads.begin() + 2, t.dy);
    return {.name = "weight_gradients",
            .meaning = std::move(meaning),
            .reads = std::move(reads),
            .writes = std::move(writes),
            .work = {.bytes = bytes, .operations = choices * t.row()}};
}

}  // namespace sawtooth::lut_table

// The story of lut_sequence: the figures and texts shown first.

#include "kernels/figures/correctness.h"
#include "kernels/lut_sequence/figures/hash_table.h"
#include "kernels/lut_sequence/parts.h"

namespace sawtooth::lut_sequence {
namespace {

bool both_are_right(const Result& result) { return is_right(result, "unfused") && is_right(result, "fused"); }

HashTable hash_table_of(const Result& result) {
    const Drawn drawn(result.parameters);
    return {HashStart(drawn), events_of(result, drawn)};
}

bool keys_are_spread(const Result& result) {
    return hash_table_of(result).mean_probes() < 4 && both_are_right(result);
}

bool distances_get_no_gradient(const Result& result) {
    return find(result.reference, "dpositional")->count() == 0 && both_are_right(result);
}

// Whether the statistic merges at least half of the events.
bool few_events_remain(const Result& result) {
    int64_t events = 0, merged = 0;
    for (const EventsAt& at : events_of(result, Drawn(result.parameters))) {
        events += at.main + at.alternative;
        merged += std::ssize(at.neurons) + std::ssize(at.alternative_neurons);
    }
    return 2 * merged < events && both_are_right(result);
}

}  // namespace

std::vector<StoryRow> story() {
    return {{{"pair", "launches"}, 100},
            {{"output-y", "error-y", "time_by_sequence_length"}, 100},
            {{"kernels", "pairs"}, 200}};
}

About about() {
    return {
        "Each detector turns a position into bits by comparing pairs of its inputs. Each pair of positions "
        "chooses a row of the detector's table, by the bits Q of the later position, K of the earlier one "
        "and PE of their distance. The rows that a position chooses with all earlier ones add up to its "
        "output. unfused has the launches of LUT Runtime CUDA Kernels Documentation: from pairs to events to "
        "outputs, with a hash table for the gradients. fused goes from pairs to outputs directly.",
        "row_ij = (Q_j << (C + P)) | (K_i << P) | PE_(j-i-1)\n"
        "y_j = sum_(i < j) sum_t weights[t, row_ij]\n"
        "du = g up'(delta), up'(d) = sign(d) / (2 (1 + |d|)^2), sign(0) = -1",
        {{"hash mixed: keys spread over the hash table",
          "Hash table: with sum, keys try neuron + position first and pile up in the first slots. With "
          "mixed, "
          "they try slots all over the table and mostly find a free one at once.",
          {{"hash", "mixed"}, {"backward", true}},
          keys_are_spread},
         {"anchors_per_detector 1 with statistic: equal events become one",
          "Events: with 2^4 rows per detector most pairs of a position choose the same rows, and the "
          "statistic merges them.",
          {{"anchors_per_detector", int64_t{1}}, {"events", "statistic"}, {"backward", true}},
          few_events_remain},
         {"positional_bits 0: the distance no longer counts",
          "Which bit gets the gradient: only positions do, always the one closer to flipping.",
          {{"positional_bits", int64_t{0}}, {"backward", true}},
          distances_get_no_gradient}},
    };
}

}  // namespace sawtooth::lut_sequence

#pragma once

#include <string>
#include <vector>

#include "kernels/core/range.h"
#include "kernels/figures/figures.h"
#include "kernels/lut_sequence/sizes.h"
#include "kernels/lut_table/figures/common.h"

namespace sawtooth::lut_sequence {

// Helpers for the figures, and the figures themselves, one file per subject.

// The indices that figures show, each limited to the size of its dimension.
struct Drawn : Sizes {
    explicit Drawn(const Parameters& parameters);

    int64_t item = 0, detector = 0, output = 0;
    int64_t query = 0, key = 0;  // positions of a pair, the later and the earlier one

    int64_t lookups() const { return detectors * pairs(); }  // pairs of a sequence, for all detectors
    std::string words() const;                               // "sequence 0, detector 1"
};

// The events of the drawn sequence at one position.
struct EventsAt {
    int64_t main = 0, alternative = 0;  // in the event buffers
    // Distinct neurons in ascending order; a neuron that is also main is not among the alternative ones.
    std::vector<int32_t> neurons, alternative_neurons;
};
// The events of every position, without those of neurons without synapses. Empty if there are no pairs, or
// too many to count.
using EventsByPosition = std::vector<EventsAt>;

// pair.cpp: "pair", the rows that the drawn pair of positions chooses.
Figure pair_figure(const Result& result);
// pair_map.cpp: "pairs", the bit of every pair that gets the gradient, tile by tile.
Figure pair_map_figure(const Result& result);
// events.cpp: events by position, and the rows of the drawn detector by position.
EventsByPosition events_of(const Result& result, const Drawn& drawn);
std::vector<Figure> event_figures(const Result& result, const EventsByPosition& events);
// Shows the reason for missing events instead of marks.
void leave_out_without_events(Figure& figure, const Drawn& drawn);
// hash_table.cpp: the fill of the hash table and the probes of its keys.
std::vector<Figure> hash_table_figures(const Drawn& drawn, const EventsByPosition& events);
// outputs.cpp: outputs and gradients over the reference, and their errors.
std::vector<Figure> output_figures(const Result& result, const View& view);

}  // namespace sawtooth::lut_sequence

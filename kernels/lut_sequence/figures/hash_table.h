#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lut_sequence/events.h"
#include "kernels/lut_sequence/figures/common.h"

namespace sawtooth::lut_sequence {

// The hash table of the backward pass after all distinct keys (neuron, position) of a sequence are inserted,
// those of main events first, in the order of positions and neurons. A key takes the first free slot from its
// start on.
struct HashTable {
    HashTable(const HashStart& start, const EventsByPosition& events);

    std::vector<int32_t> starts;  // for every slot, the number of keys that start there
    std::vector<bool> filled;     // for every slot, whether it is taken
    std::vector<int64_t> probes;  // for every key, the number of slots that it tried

    double mean_probes() const;
};

}  // namespace sawtooth::lut_sequence

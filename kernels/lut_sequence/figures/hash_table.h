#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lut_sequence/events.h"
#include "kernels/lut_sequence/figures/common.h"

namespace sawtooth::lut_sequence {

// The hash table of the backward pass after the distinct keys (neuron, position) of a sequence were inserted:
// main ones first, each by position and neuron. A key takes the first free slot from its start on.
struct HashTable {
    HashTable(const HashStart& start, const Events& events);

    std::vector<int32_t> starts;  // of every slot: keys that start there
    std::vector<bool> filled;     // of every slot
    std::vector<int64_t> probes;  // of every key

    double mean_probes() const;
};

}  // namespace sawtooth::lut_sequence

#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/lut_sequence/records.cuh"
#include "kernels/lut_sequence/sizes.h"

namespace sawtooth::lut_sequence {

// Computes the slot where the search for a key starts. With `hash` = sum neighbouring neurons start at
// neighbouring slots; if there are more keys than neurons, they form one long run. Mixed keys start anywhere.
struct HashStart {
    int64_t width;
    bool mixed;

    explicit HashStart(const Sizes& s) : HashStart(s.hash_width(), s.mixed_hash) {}
    HashStart(int64_t of_width, bool is_mixed) : width(of_width), mixed(is_mixed) {}

    int64_t operator()(int64_t neuron, int64_t position) const {
        if (!mixed) return (neuron + position) % width;
        const uint64_t key = static_cast<uint64_t>(position) << 32 | static_cast<uint64_t>(neuron);
        return static_cast<int64_t>(key * hash_factor >> 32) % width;
    }
};

// The most events of a pair and detector: the main one, and one for each of the two bits that may flip.
constexpr int64_t main_events = 1, alternative_events = 2;

// The most events at the positions before `position` of a sequence. Through the statistic a neuron has at
// most one event at a position.
inline int64_t events_before(const Sizes& s, int64_t position, int64_t events_a_pair) {
    const int64_t all = position * (position - 1) / 2 * events_a_pair;
    if (!s.statistic) return all * s.detectors;
    const int64_t growing = std::min(position, s.rows / events_a_pair);  // positions before all rows are used
    return (growing * (growing - 1) / 2 * events_a_pair + (position - growing) * s.rows) * s.detectors;
}

// The capacity of a buffer of events.
inline int64_t most_events(const Sizes& s, int64_t events_a_pair) {
    return s.batch * events_before(s, s.length, events_a_pair);
}

// What an alternative event adds to the statistic: 2^-k with 2^k > 2 (S - 1), so that the events of a neuron
// never add up to 1.
inline float alternative_share(const Sizes& s) {
    return 1 / static_cast<float>(power_of_two_from(2 * (s.length - 1) + 1));
}

}  // namespace sawtooth::lut_sequence

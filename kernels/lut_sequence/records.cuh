// Records in the memory of the variant unfused, on both backends.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut_sequence {

// A neuron fires at position j of item b for `count` of the pairs (i, j); through the buffer every pair has
// its own event. The count of an alternative event, whose neuron has a weakest bit flipped, is 0. An event
// has 12 bytes; a fourth word would add a third to the traffic of every launch on events.
struct Event {
    int32_t neuron;
    int32_t position;  // b S + j
    int32_t count;
};
static_assert(sizeof(Event) == 12, "three words");

// A slot of the hash table of an item, which holds the sum of weight times dy of a neuron at a position.
//   byte   0            4            8       12
//          neuron + 1 | position j | event | value |    the key is the first two words
struct HashEntry {
    uint64_t key;   // the neuron plus 1 in the low word, position j in the high word; 0: empty
    int32_t event;  // the number of the event that adds the value, from 1; negative: alternative
    int32_t value;  // the bits of a float, or the low word of an integer sum
};
static_assert(sizeof(HashEntry) == 16, "four words");

// The memory that can be full. It has room for every input; if it should be full all the same, the run fails
// rather than losing an event.
enum Room { room_events, room_alternative_events, room_hash_table };

// The odd number nearest to 2^64 divided by the golden ratio: the high half of a product with it depends on
// all bits of a key (Knuth, The Art of Computer Programming, 6.4).
constexpr uint64_t hash_factor = 0x9E3779B97F4A7C15;

}  // namespace sawtooth::lut_sequence

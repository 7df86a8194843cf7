// The hash table of an item, with open addressing and linear probing. A key (neuron, position) takes the
// first slot, from its start on, that is empty or its own. With hash = sum, a key starts at slot neuron +
// position:
//   slot    4         5         6         7
//   key     (3, 1)    (1, 4)    (2, 3)    empty     (2, 3) starts at 5, which (1, 4) holds
// The width is 12 slots per pair and detector, which have at most three keys. Integer sums are split: the low
// word is in the slot, the high word in hash_high [B, width].
// Defines: INTEGER (lut_table/cuda/sums.cuh), MIXED (where keys start: HashStart of events.h).
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_sequence/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/sums.cuh"

namespace sawtooth::lut_sequence {

struct HashTable {
    HashEntry* entries;
    int32_t* high;
    int64_t width;

    __device__ HashTable(const Arguments& given, int64_t item)
        : entries(given.hash + item * given.width),
          high(given.hash_high + item * given.width),
          width(given.width) {}

    // Finds or claims the slot of a key. Returns -1 if the table is full.
    __device__ int64_t claim(int64_t neuron, int64_t position) const {
        const auto key = static_cast<unsigned long long>(key_of(neuron, position));
        int64_t slot = start(neuron, position);
        for (int64_t probes = 0; probes < width; ++probes, slot = next(slot)) {
            // A key never changes, so an outdated read can only see an empty slot.
            auto* const held = reinterpret_cast<unsigned long long*>(&entries[slot].key);
            unsigned long long found = *held;
            if (found == 0) found = device::atomic_compare_and_swap(held, 0ull, key);
            if (found == 0 || found == key) return slot;
        }
        return -1;
    }
    // Returns whether this event adds the slot's value. Only the first event that asks does, in all its
    // output blocks; other events have the same neuron and position, so their sum would be the same.
    __device__ bool belongs_to(int64_t slot, int32_t event) const {
        const int32_t owner = device::atomic_compare_and_swap(&entries[slot].event, 0, event);
        return owner == 0 || owner == event;
    }

    __device__ void add(int64_t slot, float term) const {
        device::atomic_add(reinterpret_cast<float*>(&entries[slot].value), term);
    }
    // Adds to the two words of a sum. If the low word wraps around, 1 is carried to the high word.
    __device__ void add(int64_t slot, int64_t term) const {
        const auto low = static_cast<uint32_t>(term);
        const uint32_t before = device::atomic_add(reinterpret_cast<uint32_t*>(&entries[slot].value), low);
        const int32_t carry = before + low < before ? 1 : 0;
        const auto upper = static_cast<int32_t>(term >> 32) + carry;
        if (upper != 0) device::atomic_add(high + slot, upper);
    }

    // Returns the sum of a key, or 0 if it is absent. No thread may add at the same time.
    __device__ Sum find(int64_t neuron, int64_t position) const {
        const uint64_t key = key_of(neuron, position);
        int64_t slot = start(neuron, position);
        for (int64_t probes = 0; probes < width; ++probes, slot = next(slot)) {
            const HashEntry entry = entries[slot];
            if (entry.key == 0) return 0;
            if (entry.key == key) return sum_of(entry, slot, Sum{});
        }
        return 0;
    }

  private:
    static __device__ uint64_t key_of(int64_t neuron, int64_t position) {
        return static_cast<uint64_t>(position) << 32 | static_cast<uint64_t>(neuron + 1);
    }
    __device__ int64_t start(int64_t neuron, int64_t position) const {
        if constexpr (!MIXED) return (neuron + position) % width;
        const uint64_t key = static_cast<uint64_t>(position) << 32 | static_cast<uint64_t>(neuron);
        return static_cast<int64_t>(key * hash_factor >> 32) % width;
    }
    __device__ int64_t next(int64_t slot) const { return slot + 1 < width ? slot + 1 : 0; }
    __device__ float sum_of(const HashEntry& entry, int64_t, float) const {
        return __int_as_float(entry.value);
    }
    __device__ int64_t sum_of(const HashEntry& entry, int64_t slot, int64_t) const {
        return static_cast<int64_t>(high[slot]) << 32 | static_cast<uint32_t>(entry.value);
    }
};

}  // namespace sawtooth::lut_sequence

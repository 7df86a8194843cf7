// The hash table of an item: open addressing with linear probing from the slot (neuron + position) % width.
// Defines: INTEGER (lut/cuda/sums.cuh).
#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/sums.cuh"
#include "kernels/lut_sequence/cuda/arguments.cuh"

namespace sawtooth::lut_sequence {

using lut::Sum;

struct HashTable {
    HashEntry* entries;
    int32_t* high;
    int64_t width;

    __device__ HashTable(const Arguments& given, int64_t item)
        : entries(given.hash + item * given.width),
          high(given.hash_high + item * given.width),
          width(given.width) {}

    // The slot of the key of every lane, claimed if it was free; -1: the table is full. The whole warp takes
    // part; a neuron of -1 is none.
    __device__ int64_t claim(int64_t neuron, int64_t position) const {
        return slot_of<true>(neuron, position);
    }
    // The sum of the key of every lane, or 0 if it is absent.
    __device__ Sum find(int64_t neuron, int64_t position) const {
        const int64_t slot = slot_of<false>(neuron, position);
        return slot < 0 ? Sum{0} : sum_of(slot, Sum{});
    }
    // Whether the slot's value is added by this event: by the first that asks.
    __device__ bool belongs_to(int64_t slot, int32_t event) const {
        const int32_t owner = atomicCAS(&entries[slot].event, 0, event);
        return owner == 0 || owner == event;
    }

    __device__ void add(int64_t slot, float term) const {
        atomicAdd(reinterpret_cast<float*>(&entries[slot].value), term);
    }
    __device__ void add(int64_t slot, int64_t term) const {
        const auto low = static_cast<uint32_t>(term);
        const uint32_t before = atomicAdd(reinterpret_cast<uint32_t*>(&entries[slot].value), low);
        const int32_t carry = before + low < before ? 1 : 0;
        const auto upper = static_cast<int32_t>(term >> 32) + carry;
        if (upper != 0) atomicAdd(high + slot, upper);
    }

  private:
    __device__ float sum_of(int64_t slot, float) const { return __int_as_float(entries[slot].value); }
    __device__ int64_t sum_of(int64_t slot, int64_t) const {
        return static_cast<int64_t>(high[slot]) << 32 | static_cast<uint32_t>(entries[slot].value);
    }

    // Slots are counted on past the end of the table.
    __device__ int64_t wrapped(int64_t slot) const { return slot < width ? slot : slot - width; }

    // The key of a slot, which then may be `key`. A key never changes, so that a read which is old can only
    // miss one.
    template <bool claims>
    __device__ uint64_t key_at(int64_t slot, uint64_t key) const {
        auto* const held = reinterpret_cast<unsigned long long*>(&entries[slot].key);
        const unsigned long long found = *held;
        if (!claims || found != 0) return found;
        const unsigned long long before = atomicCAS(held, 0ull, static_cast<unsigned long long>(key));
        return before != 0 ? before : key;
    }

    template <bool claims>
    __device__ int64_t slot_of(int64_t neuron, int64_t position) const {
        constexpr int near = 8;
        const uint64_t key = static_cast<uint64_t>(position) << 32 | static_cast<uint64_t>(neuron + 1);
        const int64_t start = neuron < 0 ? 0 : (neuron + position) % width, end = start + width;
        int64_t at = start, slot = -1;
        bool seeks = neuron >= 0;
        for (int probe = 0; probe < near && seeks; ++probe, ++at) {
            const uint64_t found = at < end ? key_at<claims>(wrapped(at), key) : 0;
            seeks = found != 0 && found != key;
            if (found == key) slot = wrapped(at);
        }
        // Long runs of keys are read by the whole warp, 32 slots at a time, for all lanes that still seek in
        // one table.
        while (const unsigned seeking = __ballot_sync(device::whole_warp, seeks)) {
            const HashTable table = of_lane(__ffs(seeking) - 1);
            const bool joins = seeks && entries == table.entries;
            table.seek_among<claims>(smallest(joins ? at : 4 * width), joins, key, end, at, slot, seeks);
        }
        return slot;
    }

    __device__ HashTable of_lane(int lane) const {
        const uint64_t at = __shfl_sync(device::whole_warp, reinterpret_cast<uint64_t>(entries), lane);
        HashTable table = *this;
        table.entries = reinterpret_cast<HashEntry*>(at);
        return table;
    }

    static __device__ int64_t smallest(int64_t value) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            const int64_t other = __shfl_xor_sync(device::whole_warp, value, step);
            value = other < value ? other : value;
        }
        return value;
    }

    // One step: the slots first … first + 31, one per lane.
    template <bool claims>
    __device__ void seek_among(int64_t first, bool joins, uint64_t key, int64_t end, int64_t& at,
                               int64_t& slot, bool& seeks) const {
        const int lane = device::lane_of_thread();
        const int64_t place = first + lane, own_slot = wrapped(wrapped(place));
        uint64_t held = own_slot < width ? entries[own_slot].key : 0;
        for (unsigned rest = __ballot_sync(device::whole_warp, joins && at < first + 32); rest;
             rest &= rest - 1) {
            const int k = __ffs(rest) - 1;
            const uint64_t wanted = __shfl_sync(device::whole_warp, key, k);
            const int64_t from = __shfl_sync(device::whole_warp, at, k),
                          to = __shfl_sync(device::whole_warp, end, k);
            const bool concerned = place >= from && place < to;
            for (;;) {
                const unsigned same = __ballot_sync(device::whole_warp, concerned && held == wanted);
                const unsigned stops = same | __ballot_sync(device::whole_warp, concerned && held == 0);
                const int stop = __ffs(stops) - 1;
                const bool is_same = stops != 0 && (same >> stop & 1) != 0;
                if (claims && stops != 0 &&
                    !is_same) {  // the slot is free: it is claimed, or another was faster
                    if (lane == stop) held = key_at<true>(own_slot, wanted);
                    continue;
                }
                const int64_t found = __shfl_sync(device::whole_warp, own_slot, stops != 0 ? stop : 0);
                if (lane == k) {
                    if (is_same) slot = found;
                    at = first + 32;
                    seeks = stops == 0 && at < end;
                }
                break;
            }
        }
    }
};

}  // namespace sawtooth::lut_sequence

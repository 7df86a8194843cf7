#pragma once

#include <atomic>
#include <bit>

#include "kernels/lut_sequence/events.h"

namespace sawtooth::lut_sequence {

// The hash table of one batch item, which holds the sums of weight times dy by neuron and position. It uses
// open addressing with linear probing. Workers insert at the same time: a slot belongs to the worker that
// claims it, and its sum is the same whichever event claims it, so results do not depend on the order.
class GradientTable {
  public:
    // All entries are zero before the first insertion. `high` has the high words of integer sums.
    GradientTable(HashEntry* entries, int32_t* high, const HashStart& start)
        : entries_(entries), high_(high), width_(start.width), start_(start) {}

    enum class Claim { claimed, present, full };
    // Finds or claims the slot of a key.
    Claim claim(int64_t neuron, int64_t position, int64_t& slot) const {
        const uint64_t key = key_of(neuron, position);
        slot = start_(neuron, position);
        for (int64_t probes = 0; probes < width_; ++probes, slot = next(slot)) {
            const std::atomic_ref held(entries_[slot].key);
            uint64_t found = held.load(std::memory_order_relaxed);
            if (found == 0 && held.compare_exchange_strong(found, key, std::memory_order_relaxed))
                return Claim::claimed;
            if (found == key) return Claim::present;
        }
        return Claim::full;
    }

    void store(int64_t slot, int32_t event, float sum) const {
        entries_[slot].event = event;
        entries_[slot].value = std::bit_cast<int32_t>(sum);
    }
    void store(int64_t slot, int32_t event, int64_t sum) const {
        entries_[slot].event = event;
        entries_[slot].value = static_cast<int32_t>(sum);
        high_[slot] = static_cast<int32_t>(sum >> 32);
    }

    // Returns the sum of a key, or 0 if it is absent. All insertions must have ended.
    template <class Sum>
    Sum find(int64_t neuron, int64_t position) const {
        const uint64_t key = key_of(neuron, position);
        int64_t slot = start_(neuron, position);
        for (int64_t probes = 0; probes < width_ && entries_[slot].key != 0; ++probes, slot = next(slot))
            if (entries_[slot].key == key) return sum_at(slot, Sum{});
        return 0;
    }

  private:
    int64_t next(int64_t slot) const { return slot + 1 < width_ ? slot + 1 : 0; }
    float sum_at(int64_t slot, float) const { return std::bit_cast<float>(entries_[slot].value); }
    int64_t sum_at(int64_t slot, int64_t) const {
        return int64_t{high_[slot]} << 32 | static_cast<uint32_t>(entries_[slot].value);
    }

    static uint64_t key_of(int64_t neuron, int64_t position) {
        return static_cast<uint64_t>(position) << 32 | static_cast<uint64_t>(neuron + 1);
    }

    HashEntry* entries_;
    int32_t* high_;
    int64_t width_;
    HashStart start_;
};

}  // namespace sawtooth::lut_sequence

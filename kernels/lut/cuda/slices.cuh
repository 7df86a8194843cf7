// Tables in slices, for full tables of floats and many items: a thread block goes through detectors for ITEMS
// items and SLICE outputs. These outputs of whole tables pass through a ring of slots in shared memory, from
// where items read the rows that they chose. So a row is read from L2 once for ITEMS items. Choices come from
// choose_rows.cu. A group of threads has all outputs of the slice, four each:
//   threads    0 … 7    8 … 15    …   504 … 511     with 1024 items, 32 outputs, 512 threads
//   items      0 … 15   16 … 31       1008 … 1023
// Eight threads read a row of 128 bytes without bank conflicts. Thread 0 fills the slot of a
// detector again when it has read the next one.
//
// Defines: ANCHORS, OUTPUTS, ITEMS, SLICE, SLOTS, PARTS, THREADS. Detectors are a multiple of 8.
#pragma once

#include "kernels/cuda/device/tensor_copy.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/arguments.cuh"

namespace sawtooth::lut {

constexpr int table_rows = 1 << ANCHORS;
constexpr int lanes = SLICE / 4, items_of_thread = ITEMS * lanes / THREADS;

static_assert(items_of_thread % 8 == 0 && ITEMS * lanes == items_of_thread * THREADS);
static_assert(table_rows <= 256, "a row is a byte of a choice");

struct Slot {
    float4 table[table_rows][lanes];
    RowChoice choices[ITEMS];
};

struct SlicesShared {
    Slot slots[SLOTS];
    device::RingBarriers<SLOTS> ring;
};

// What a thread block works on: slice s, part p of the detectors, and the items from first_item on.
struct SliceOfBlock {
    int slice = blockIdx.x / PARTS, part = blockIdx.x % PARTS;
    int64_t first_item = int64_t{blockIdx.y} * ITEMS;
    int64_t first_detector, end_of_detectors;

    __device__ explicit SliceOfBlock(int64_t detectors)
        : first_detector(detectors / chunk * part / PARTS * chunk),
          end_of_detectors(detectors / chunk * (part + 1) / PARTS * chunk) {}
    // The output and the item that are the first ones of this thread.
    __device__ int64_t output() const { return slice * SLICE + threadIdx.x % lanes * 4; }
    __device__ int64_t item() const { return first_item + threadIdx.x / lanes * items_of_thread; }
};

// Calls each(detector, table, choices) for the detectors of the part, in their order. `table` is the slice of
// the table, at the outputs of this thread: its row r is table[r * lanes]. `choices` are those of the items
// of this thread. Warps may be a few detectors apart.
template <class Each>
__device__ void for_slices(const SliceArguments& given, const SliceOfBlock& block, SlicesShared& shared,
                           Each each) {
    const bool fills = threadIdx.x == 0;
    const auto fill = [&](int slot, int64_t detector) {
        Slot& to = shared.slots[slot];
        device::Barrier& full = shared.ring.full[slot];
        full.arrive_and_expect(sizeof(Slot));
        const int table = static_cast<int>(detector);
        device::copy_box(given.weights, to.table, full, block.slice * SLICE, 0, table);
        device::copy_box(given.choices, to.choices, full, 0, static_cast<int>(block.first_item / 64), table);
    };
    if (fills) {
        shared.ring.start(1, THREADS / 32);
        device::make_barriers_visible();
        for (int slot = 0; slot < SLOTS && block.first_detector + slot < block.end_of_detectors; ++slot)
            fill(slot, block.first_detector + slot);
    }
    device::sync_block();  // the barriers are visible
    device::RingPlace<SLOTS> place, before;
    for (int64_t d = block.first_detector; d < block.end_of_detectors; ++d) {
        const Slot& slot = shared.slots[place.slot];
        shared.ring.wait_until_full(place);
        each(d, slot.table[0] + threadIdx.x % lanes, slot.choices + threadIdx.x / lanes * items_of_thread);
        device::sync_warp();  // all lanes have read the slot
        shared.ring.leave(place.slot);
        if (fills && d > block.first_detector && d - 1 + SLOTS < block.end_of_detectors) {
            shared.ring.empty[before.slot].wait(before.parity);
            fill(before.slot, d - 1 + SLOTS);
        }
        before = place;
        place.advance();
    }
}

// The choices of eight items, in registers.
struct EightChoices {
    uint32_t pairs[4];

    __device__ explicit EightChoices(const RowChoice* from) {
        const uint4 all = *reinterpret_cast<const uint4*>(from);
        pairs[0] = all.x, pairs[1] = all.y, pairs[2] = all.z, pairs[3] = all.w;
    }
    __device__ uint32_t row(int item) const { return pairs[item / 2] >> 16 * (item % 2) & 255; }
    __device__ uint32_t alternative(int item) const { return pairs[item / 2] >> (16 * (item % 2) + 8) & 255; }
};

}  // namespace sawtooth::lut

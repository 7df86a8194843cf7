// Lattice on a GPU: its slots token by token, or frozen at the boundaries of chunks.

#include "kernels/memory/cuda.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

using cuda::PlanBuilder;

constexpr int64_t group = 16;  // tokens staged at once
constexpr int64_t slots_a_warp = 4;
constexpr int64_t most_tile = 64;

int64_t reading_warps(const Job& sizes) {
    return std::min<int64_t>(ceil_divide(sizes.slot_count, slots_a_warp), 8);
}

// A thread block's share: all slots where it reads them, else those of one warp.
struct Share {
    int64_t warps, slots;
};
Share share_of(const Job& sizes, bool reads) {
    const int64_t warps = reads ? reading_warps(sizes) : 1;
    return {warps, reads ? padded_to(sizes.slot_count, slots_a_warp * warps) : slots_a_warp};
}

Defines slot_defines(const DeviceJob& job, const char* update, bool reads) {
    const Share share = share_of(job.sizes, reads);
    return {{"X", name_of(job.storage)},
            {"WIDTH", text_of(job.sizes.width)},
            {"SLOT_COUNT", text_of(job.sizes.slot_count)},
            {"UPDATE", update},
            {"READS", text_of(reads)},
            {"AT_BOUNDARY", text_of(job.sizes.reads_boundary)},
            {"NORMALISE", text_of(job.sizes.normalises)},
            {"WARPS", text_of(share.warps)},
            {"SLOTS", text_of(share.slots)},
            {"GROUP", text_of(group)}};
}

device_side::Slots slots_of(const DeviceJob& job) {
    device_side::Slots slots = {};
    slots.length = job.sizes.length;
    slots.k = job.k, slots.v = job.v, slots.q = job.q;
    slots.given = job.slots;
    slots.final = job.final_m;
    slots.boundaries = job.boundaries;
    slots.boundary_chunk = job.chunk;
    slots.boundary_count = job.boundary_count;
    slots.y = job.y;
    slots.y_stride = job.y_stride;
    return slots;
}

}  // namespace

int64_t slots_shared_bytes(const Job& sizes, bool is_frozen, bool reads) {
    const Share share = share_of(sizes, reads);
    const int64_t row = padded_to(sizes.width, 32), teams = 4 * share.warps;
    const int64_t tokens = (reads ? 3 : 2) * group + 1, slots = share.slots + (is_frozen ? share.slots : 1);
    return 4 * (row * (tokens + slots + (reads ? teams : 1)) + 2 * teams) + 64;
}

void add_slot_steps(PlanBuilder& builder, const DeviceJob& job, int64_t tokens) {
    const Job& sizes = job.sizes;
    float* const live = builder.take<float>(sizes.batch * sizes.slot_count * sizes.width);
    const Share share = share_of(sizes, true);
    const cuda::Kernel kernel =
        builder.kernel({"kernels/memory/slots.cu", slot_defines(job, "exact", true)}, "slots");
    device_side::Slots slots = slots_of(job);
    slots.live = live;
    const int64_t shared = slots_shared_bytes(sizes, false, true);
    const auto count = static_cast<double>(tokens);
    const LaunchInfo info =
        describe_launch(tokens == 1 ? "token" : "tokens",
                        tokens == 1 ? "One token corrects all slots and reads them."
                                    : "All tokens, one after another, correct the slots and read them.",
                        "1, B", vectors_of(job, tokens), {y_of(job, tokens)},
                        {count * bytes_a_token(sizes), count * operations_a_token(sizes)});
    add_steps(sizes, tokens, [&](Range range) {
        slots.tiling.first = range.first, slots.tiling.last = range.last;
        if (range.first > 0) return builder.launch_again(kernel, shared, slots);
        builder.launch(info, kernel, {1, sizes.batch, 1}, {32 * share.warps, 1, 1}, shared, slots);
    });
}

void add_frozen_slots(PlanBuilder& builder, const DeviceJob& job, SlotChunks how) {
    const Job& sizes = job.sizes;
    const char* const update = how == SlotChunks::sums ? "sums" : "linearised";
    const int64_t tile = std::min(job.chunk, most_tile), tiles_a_chunk = ceil_divide(job.chunk, tile);
    const int64_t whole = sizes.length / job.chunk, rest = sizes.length % job.chunk;
    const int64_t tiles = whole * tiles_a_chunk + ceil_divide(rest, tile);
    device_side::Slots slots = slots_of(job);
    slots.tiling = {0,
                    sizes.length,
                    job.chunk,
                    0,
                    static_cast<int>(tile),
                    static_cast<int>(tiles_a_chunk),
                    static_cast<int>(tiles),
                    0};
    slots.states = builder.take<float>(sizes.batch * tiles * sizes.slot_count * sizes.width);
    const Share walking = share_of(sizes, false), reading = share_of(sizes, true);
    const ArrayUse states = {"slots of tiles", {sizes.batch, tiles, sizes.slot_count, sizes.width}};
    const auto work = static_cast<double>(sizes.batch * sizes.length * sizes.slot_count * sizes.width);
    const double bytes = static_cast<double>(sizes.length) * bytes_a_token(sizes);
    const double state_bytes = 4 * static_cast<double>(count_of(states.shape));
    builder.launch(describe_launch("walk_slots", "From boundary to boundary, every slot for itself.",
                                   "ceil(slot_count / 4), B", vectors_of(job, sizes.length), {states},
                                   {bytes + state_bytes, 6 * work}),
                   builder.kernel({"kernels/memory/slots.cu", slot_defines(job, update, false)}, "slots"),
                   {ceil_divide(sizes.slot_count, walking.slots), sizes.batch, 1}, {32 * walking.warps, 1, 1},
                   slots_shared_bytes(sizes, true, false), slots);
    std::vector<ArrayUse> reads = vectors_of(job, sizes.length);
    reads.push_back(states);
    builder.launch(
        describe_launch("read_slots", "All tokens of all tiles read the slots.", "ceil(L / tile), B",
                        std::move(reads), {y_of(job, sizes.length)}, {bytes + state_bytes, 16 * work}),
        builder.kernel({"kernels/memory/slots.cu", slot_defines(job, update, true)}, "slots"),
        {tiles, sizes.batch, 1}, {32 * reading.warps, 1, 1}, slots_shared_bytes(sizes, true, true), slots);
}

void add_lattice_gla(PlanBuilder& builder, const DeviceJob& job) {
    add_frozen_slots(builder, job, SlotChunks::linearised);
}

}  // namespace sawtooth::memory

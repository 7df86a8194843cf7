// Lattice on a GPU: slots token by token, or frozen at the boundaries of chunks.

#include <algorithm>

#include "kernels/cuda/struct_bytes.h"
#include "kernels/memory/cuda/strategies.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

using cuda::KernelSource;
using cuda::PlanBuilder;

constexpr int64_t group = 16;  // tokens staged together
constexpr int64_t slots_a_warp = 4;
constexpr int64_t most_tile = 64;

// The shape of a thread block, which owns all slots if it reads, and otherwise those of one warp.
struct BlockShape {
    int64_t warps, slots;
    int64_t threads() const { return 32 * warps; }
};
BlockShape block_shape(const Sizes& sizes, bool reads) {
    if (!reads) return {1, slots_a_warp};
    const int64_t warps = std::min<int64_t>(ceil_divide(sizes.slot_count, slots_a_warp), 8);
    return {warps, round_up(sizes.slot_count, slots_a_warp * warps)};
}

KernelSource source_of(const Sizes& sizes, const char* update, bool is_frozen, bool reads,
                       bool is_local = false) {
    const BlockShape shape = block_shape(sizes, reads);
    return kernel("lattice", shape.threads(), lattice_shared_bytes(sizes, is_frozen, reads),
                  {{"X", name_of(sizes.storage)},
                   {"WIDTH", sizes.d},
                   {"SLOT_COUNT", sizes.slot_count},
                   {"UPDATE", update},
                   {"READS", reads},
                   {"AT_BOUNDARY", sizes.reads_boundary},
                   {"NORMALISE", sizes.normalises},
                   {"SLOTS", shape.slots},
                   {"GROUP", group},
                   {"LOCAL", is_local}});
}

}  // namespace

// The bytes of `Shared` in lattice.cu.
int64_t lattice_shared_bytes(const Sizes& sizes, bool is_frozen, bool reads) {
    const BlockShape shape = block_shape(sizes, reads);
    const int64_t row = round_up(sizes.d, 32), teams = shape.threads() / 8;
    return cuda::StructBytes()
        .array((2 * group + (reads ? group : 1)) * row, 4, 16)  // k, v, q
        .array(shape.slots * row, 4, 16)                        // x
        .array((is_frozen ? shape.slots : 1) * row, 4, 16)      // boundary
        .array((reads ? teams : 1) * row, 4, 16)                // partial_y
        .array(2 * teams, 4)                                    // largest, weights
        .total();
}

KernelSource slots_source(const Sizes& sizes, bool is_local) {
    return source_of(sizes, "exact", false, true, is_local);
}

void add_slot_steps(PlanBuilder& builder, const Tensors& t, int64_t tokens) {
    launch_steps(builder, t, tokens, Grid{.y = side("B", t.batch)}, slots_source(t, false));
}

void add_frozen_slots(PlanBuilder& builder, const Tensors& t, const char* update) {
    const TiledRange tiling({0, t.length}, t.chunk, most_tile);
    const Buffer slots = builder.take("slots of tiles", {t.batch, tiling.count(), t.slot_count, t.d});
    Arguments given = arguments_of(t);
    given.tiling = arguments_of(tiling, 0);
    given.tile_slots = slots.as<float>();
    builder.launch(launches::walk_slots(t, tiling, {t.k, t.v}, slots),
                   {pieces("slot_count", t.slot_count, block_shape(t, false).slots), side("B", t.batch)},
                   source_of(t, update, true, false), given);
    builder.launch(launches::read_slots(t, tiling, {t.k, t.v}, slots), tile_grid(tiling, t.batch),
                   source_of(t, update, true, true), given);
}

}  // namespace sawtooth::memory

// Lattice on a GPU: slots token by token, or frozen at the boundaries of chunks.

#include <algorithm>

#include "kernels/cuda/struct_bytes.h"
#include "kernels/memory/cuda/strategies.h"

namespace sawtooth::memory {
namespace {

using cuda::KernelSource;
using cuda::PlanBuilder;

constexpr int64_t group = 16;  // tokens staged together
constexpr int64_t slots_a_warp = 4;
constexpr int64_t most_tile = 64;

// The slots of a thread block: all of them if it reads, otherwise those of one warp.
struct Share {
    int64_t warps, slots;
    int64_t threads() const { return 32 * warps; }
};
Share share_of(const Job& job, bool reads) {
    if (!reads) return {1, slots_a_warp};
    const int64_t warps = std::min<int64_t>(ceil_divide(job.slot_count, slots_a_warp), 8);
    return {warps, round_up(job.slot_count, slots_a_warp * warps)};
}

KernelSource source_of(const Job& job, const char* update, bool is_frozen, bool reads) {
    const Share share = share_of(job, reads);
    return kernel("lattice", share.threads(), lattice_shared_bytes(job, is_frozen, reads),
                  {{"X", name_of(job.storage)},
                   {"WIDTH", job.d},
                   {"SLOT_COUNT", job.slot_count},
                   {"UPDATE", update},
                   {"READS", reads},
                   {"AT_BOUNDARY", job.reads_boundary},
                   {"NORMALISE", job.normalises},
                   {"SLOTS", share.slots},
                   {"GROUP", group}});
}

}  // namespace

// `Shared` of lattice.cu.
int64_t lattice_shared_bytes(const Job& job, bool is_frozen, bool reads) {
    const Share share = share_of(job, reads);
    const int64_t row = round_up(job.d, 32), teams = share.threads() / 8;
    return cuda::StructBytes()
        .array((2 * group + (reads ? group : 1)) * row, 4, 16)  // k, v, q
        .array(share.slots * row, 4, 16)                        // x
        .array((is_frozen ? share.slots : 1) * row, 4, 16)      // boundary
        .array((reads ? teams : 1) * row, 4, 16)                // parts
        .array(2 * teams, 4)                                    // largest, weights
        .total();
}

void add_slot_steps(PlanBuilder& builder, const Job& job, int64_t tokens) {
    launch_steps(builder, job, tokens, Grid{.y = side("B", job.batch)}, source_of(job, "exact", false, true),
                 LatticeArguments{token_arguments(job), {}, nullptr});
}

void add_frozen_slots(PlanBuilder& builder, const Job& job, const char* update) {
    const Tiling tiling({0, job.length}, job.chunk, most_tile);
    const LatticeArguments arguments = {
        token_arguments(job), arguments_of(tiling, 0),
        builder.take<float>(job.batch * tiling.count() * job.slot_count * job.d)};
    const auto brings = describe::inputs_of(job, job.length);
    builder.launch(describe::walk_slots(job, tiling, brings),
                   {pieces("slot_count", job.slot_count, share_of(job, false).slots), side("B", job.batch)},
                   source_of(job, update, true, false), arguments);
    builder.launch(describe::read_slots(job, tiling, brings), tile_grid(tiling, job.batch),
                   source_of(job, update, true, true), arguments);
}

}  // namespace sawtooth::memory

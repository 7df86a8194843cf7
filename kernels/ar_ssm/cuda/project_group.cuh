// What project_wgmma.cu and project_split.cu share. A thread block is three groups of four warps: two have a
// tile of 64 positions each, and of the third one thread copies; it gives registers to the others. A group
// has logits, x U^T and x V^T of its tile in registers; this header turns logits into gates and stores all of
// them:
//
//   warp w of a group    rows 16 w … + 15 of the tile, all columns
//   a lane               four elements of each 16 x 8 tile of sums (products.cuh)
//
// Defines: HIDDEN, RANK.
#pragma once

#include "kernels/ar_ssm/cuda/convolution.cuh"
#include "kernels/ar_ssm/cuda/gates.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warpgroup.cuh"

namespace sawtooth::ar_ssm {

constexpr int groups = 2, rows = 64;  // positions of a group
constexpr int weight_rows = HIDDEN + 2 * RANK;

// The tile of a group. Behind the last tile a group repeats that one and stores nothing.
__device__ Positions positions_of_group(const Layer& layer, int group, int64_t& tile) {
    const int64_t tiles = layer.batch * ((layer.length + rows - 1) / rows);
    tile = int64_t{blockIdx.x} * groups + group;
    const bool is_there = tile < tiles;
    Positions at = positions_of<rows>(layer, is_there ? tile : tiles - 1);
    if (!is_there) at.count = 0;
    return at;
}

// The tile of the group that a thread belongs to.
struct TileOfGroup {
    const Layer& layer;
    const int number = device::uniform_warp_of_thread() / 4, warp = device::uniform_warp_of_thread() % 4;
    int64_t tile;
    const Positions at = positions_of_group(layer, number, tile);
    Tile projected[2 * RANK / 8], gates[RANK / 8];

    __device__ explicit TileOfGroup(const Layer& given) : layer(given) {}

    // The row of the tile, and the column, of an element of a lane.
    __device__ int row(int element) const { return 16 * warp + device::row_of_lane() + element / 2 * 8; }
    static __device__ int column(int n, int element) {
        return 8 * n + device::column_of_lane() + element % 2;
    }

    __device__ void store_gates() {
        float effective[2] = {};
#pragma unroll
        for (int n = 0; n < RANK / 8; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                float& gate = gates[n][e];
                gate = row(e) < at.count ? store_gate(layer, at.token + row(e), column(n, e), gate) : 0;
                effective[e / 2] += gate;
            }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float sum = device::sum_of_quad(effective[half]);
            if (device::lane_of_thread() % 4 == 0 && row(2 * half) < at.count)
                layer.effective_rank[at.token + row(2 * half)] = sum;
        }
    }

    // Stores x U^T and x V^T, and the sums of u over the tile, from `sums_of_warps`, in shared memory. u
    // takes part as it is stored.
    __device__ void store_projections(float (&sums_of_warps)[4][RANK]) {
#pragma unroll
        for (int n = 0; n < 2 * RANK / 8; ++n)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                void* const to = n < RANK / 8 ? layer.projected_u : layer.projected_v;
                if (row(2 * half) < at.count)
                    store_pair<Storage>(to, at.token + row(2 * half), RANK, column(n % (RANK / 8), 0),
                                        projected[n][2 * half], projected[n][2 * half + 1]);
            }
#pragma unroll
        for (int n = 0; n < RANK / 8; ++n)
#pragma unroll
            for (int v = 0; v < 2; ++v) {
                const auto u = [&](int e) {
                    return row(e) < at.count ? Storage::widen(Storage::narrow(projected[n][e])) * gates[n][e]
                                             : 0;
                };
                float sum = u(v) + u(2 + v);
#pragma unroll
                for (int lanes = 4; lanes < 32; lanes *= 2)
                    sum += __shfl_xor_sync(device::whole_warp, sum, lanes);
                if (device::lane_of_thread() < 4) sums_of_warps[warp][column(n, v)] = sum;
            }
        device::sync_group();  // the sums of the warps are visible
        const int rank = static_cast<int>(threadIdx.x) % 128;
        if (rank >= RANK || at.count == 0) return;
        float sum = 0;
#pragma unroll
        for (int w = 0; w < 4; ++w) sum += sums_of_warps[w][rank];
        layer.totals[tile * RANK + rank] = sum;
    }
};

// The kernel: starts the barriers, then the groups run `Group` and a thread of the last warps calls
// produce().
template <class Group, class Shared, class Produce>
__device__ void run_groups(const Layer& layer, Shared& shared, Produce produce) {
    if (threadIdx.x == 0) {
        shared.gates.start(1);
        shared.ring.start(1, 4 * groups);
        device::make_barriers_visible();
    }
    device::sync_block();  // barriers are visible to all
    if (device::uniform_warp_of_thread() < 4 * groups) {
        device::take_registers<240>();
        Group(layer, shared).run();
    } else {
        device::keep_registers<24>();
        if (threadIdx.x == 128 * groups) produce();
    }
}

}  // namespace sawtooth::ar_ssm

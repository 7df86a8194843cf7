// Steps 4 to 6 of ROWS positions by one thread block: scans u from the prefixes of the tile, multiplies with
// v, and writes y from the product with W_o and the convolution of x.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, BACKWARD, BIDIRECTIONAL, ROWS, DEPTH, CHANNELS (of y at a
// time).

#include "kernels/ar_ssm/cuda/staged.cuh"
#include "kernels/ar_ssm/cuda/tile_scan.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

using Output = Product<ROWS, CHANNELS, DEPTH, 4, 2, Lies::in_rows, Lies::in_columns>;
using Scan = TileScan<ROWS>;

struct Shared {
    union {
        Output::Shared product;
        Staged<Output> staged;
        Scan::Shared scan;
    };
};
static_assert(sizeof(Shared) == SHARED_BYTES);

// w = c v of 32 ranks.
__device__ void scan_ranks(const Layer& of, const Positions& at, int64_t tile, int64_t first,
                           Scan::Shared& shared) {
    const int64_t rank = first + Scan::column(), tiles = (of.length + ROWS - 1) / ROWS;
    const bool is_rank = rank < of.rank;
    const int64_t index = tile % tiles;
    float before = 0, after = 0;
    if (is_rank) {
        before = prefix_of(of.prefixes, at.sequence, tiles, index - 1, of.rank, rank);
        if constexpr (BIDIRECTIONAL)
            after = prefix_of(of.reverse_prefixes, at.sequence, tiles, index + 1, of.rank, rank);
    }
    const auto place = [&](int row) { return (at.token + row) * of.rank + rank; };
    const auto load = [&](int row) {
        return is_rank && row < at.count ? element(of.projected_u, place(row)) * of.gates[place(row)] : 0;
    };
    Scan::scan<true, BIDIRECTIONAL>(shared, before, after, load, [&](int row, float c) {
        if (!is_rank || row >= at.count) return;
        const float v = element(of.projected_v, place(row)) * of.gates[place(row)];
        static_cast<Element*>(of.w)[place(row)] = Storage::narrow(c * v);
        if constexpr (BACKWARD) of.c[place(row)] = c;
    });
}

// Grid: B ceil(L / ROWS).
extern "C" __global__ void __launch_bounds__(THREADS) scan_and_output(Layer of) {
    extern __shared__ uint4 shared_words[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_words);
    const int64_t tile = blockIdx.x;
    const Positions at = positions_of<ROWS>(of, tile);
    for (int64_t first = 0; first < of.rank; first += Scan::columns)
        scan_ranks(of, at, tile, first, shared.scan);
    __syncthreads();  // w is visible to the block
    for (int64_t channel = 0; channel < of.width; channel += CHANNELS) {
        Output::Sums sums;
        Output::clear(sums);
        Output::add(shared.product, of.rank, sums, [&](Output::Stage& stage, int64_t k) {
            copy_part<ROWS, DEPTH>(stage.left, Output::left_stride, {of.w, at.token + at.count, of.rank},
                                   at.token, k);
            copy_part<CHANNELS, DEPTH>(stage.right, Output::right_stride, {of.out_proj, of.width, of.rank},
                                       channel, k);
        });
        shared.staged.put(sums);
        __syncthreads();  // the products are visible
        convolve<ROWS, CHANNELS, false>(
            of, of.x, at, channel, [&](int row, int column, const float(&t)[channels_together]) {
                float y[channels_together];
#pragma unroll
                for (int v = 0; v < channels_together; ++v)
                    y[v] = of.scale * (t[v] + shared.staged.at(row, column + v)) +
                           element(of.out_bias, channel + column + v);
                device::store<Storage>(of.y, (at.token + row) * of.width + channel + column, y);
            });
        __syncthreads();  // all have read the products
    }
}

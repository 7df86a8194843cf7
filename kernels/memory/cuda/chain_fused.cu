// exact_chunk after the solve on Hopper: walks M from tile to tile and reads y on the way, so that neither
// states nor errors pass through memory. Of a tile's 64 tokens, K and Q are the keys and queries, X and U the
// solution of chain_solve.cu for keys and values, a_t and w_ts the coefficients of chain.cuh:
//   E^T = M X^T - U^T
//   y^T = M Q^T diag(a) + E^T W^T,   W_ts = -w_ts (q_t . k_s), 0 where s comes after t
//   M = a M - E^T diag(w) K,         a and w after the last token
// Rows of M are independent: a thread block has 64 of them, and three kinds of warps, which work on different
// tiles at the same time:
//
//   producer, a thread   copies X, K, Q, U of tile 2    of tile 3    …    into a ring of STAGES
//   weighers, 4 warps    make a and W of tile 1         of tile 2    …    in two slots
//   walkers, 4 warps     make E, y and M of tile 0      of tile 1    …    M stays in registers
//
// The products of the walkers take their left factors, M and E, from registers too, and overlap:
//
//   tensor cores   M X^T of 1    M Q^T of 1            E^T diag(w) K, E^T W^T of 1  |  M X^T of 2    …
//   other work     stores y of 0      loads U of 1   |                              |  stores y of 1 …
//                       `|` is a wait: for E, then for M as the next left factor
//
// Keys and queries come as they are given; norms scale what is multiplied from them. X, which the solve made
// of normalised keys, needs no scale.
//
// Defines: THREADS, SHARED_BYTES, COLUMNS (d, 64 or 128), NORMALISE, STAGES.

#include "kernels/memory/cuda/chain_fused.cuh"

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/tensor_copy.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;
using device::Tile;

// The sequence and the rows of M of a thread block.
struct Strip {
    int64_t batch = blockIdx.y;
    int first = blockIdx.x * strip;
};

// Copies all tiles, in one thread. What lies after the last token becomes zeros.
__device__ void produce(const ChainFusedArguments& given, Shared& shared) {
    const TilingArguments& tiling = given.chain.tiling;
    const Strip rows;
    const int batch = static_cast<int>(rows.batch);
    Place place;
    for (int tile = 0; tile < tiling.tiles; ++tile, place.advance()) {
        Stage& stage = shared.stages[place.slot];
        const int token = static_cast<int>(tiling.first) + tile * tile_tokens;  // of the sequence
        device::Barrier& full = shared.ring.begin_to_fill(place);
        full.arrive_and_expect(static_cast<int>(sizeof(Stage)));
        device::copy_boxes<boxes, tile_tokens, box>(given.solved, stage.solved, full, tile * tile_tokens,
                                                    batch);
        device::copy_box(given.values, stage.values, full, rows.first, tile * tile_tokens, batch);
        device::copy_boxes<boxes, tile_tokens, box>(given.queries, stage.queries, full, token, batch);
        device::copy_boxes<boxes, tile_tokens, box>(given.keys, stage.keys, full, token, batch);
    }
}

// Four warps that own M. Warp w has the rows 16 w … 16 w + 15 of the strip, in M as well as in E^T and y^T.
// While a product runs, no instruction but its own may write its sums: the assembler would make all products
// wait for one another.
struct Walkers {
    const ChainFusedArguments& given;
    Shared& shared;
    const Strip rows;
    const int warp_row = 16 * device::warp_of_thread();
    Tile m[d / 8];
    Tile products[8];  // M X^T
    Tile reads[8];     // M Q^T
    Tile own[8];       // E^T W^T
    bool has_nonfinite = false;

    __device__ int64_t first_of_m() const { return rows.batch * d * d; }
    __device__ void load_m() {
        const PassedState& state = given.chain.m;
        const float* const from = given.chain.tiling.first > 0 ? state.live : state.from;
        device::load_unpadded<d, d>(from ? from + first_of_m() : nullptr, rows.first + warp_row, 0, m);
    }
    __device__ void store_m(float* to) const {
        if (to) device::store_unpadded<d, d>(m, to + first_of_m(), rows.first + warp_row, 0);
    }
    __device__ void store_boundary(int64_t number) const {
        const int64_t at = rows.batch * given.chain.boundary_count + number;
        device::store_unpadded<d, d>(m, given.chain.boundaries + at * d * d, rows.first + warp_row, 0);
    }

    // Starts to = M times the transposed rows of a matrix of the tile.
    static __device__ void start_product(const P::Left (&of_m)[d / 16], const Element* right, Tile (&to)[8]) {
        device::keep_in_place(to);
        device::begin_products();
#pragma unroll
        for (int k = 0; k < d / 16; ++k)
            Step<tile_tokens>::add<false>(to, of_m[k], Swizzled::rows(right, k / 4 * box_bytes + k % 4 * 32),
                                          k > 0);
        device::end_products();
    }

    // Calls visit(n, half, pair) for the pairs of a matrix with a row for each token and a column for each
    // row of the strip. Transposed, they are what the lane has of tile n of E^T or y^T, upper or lower half:
    // neighbouring rows of a token become neighbouring tokens of a row.
    template <class Visit>
    __device__ void for_each_pair(Element* matrix, Visit visit) const {
#pragma unroll
        for (int n = 0; n < 8; ++n)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                visit(n, half,
                      pair_at(matrix, 8 * n + device::row_of_lane(),
                              warp_row + 8 * half + device::column_of_lane()));
    }

    // Multiplies tile n of E^T or y^T by factors of its tokens.
    static __device__ void scale_tokens(const Tile& from, const float* factors, int n, Tile& to) {
        const auto two = *reinterpret_cast<const float2*>(&factors[8 * n + device::column_of_lane()]);
        to[0] = two.x * from[0], to[1] = two.y * from[1];
        to[2] = two.x * from[2], to[3] = two.y * from[3];
    }

    // The word of shared memory with two neighbouring errors of the warp's row.
    __device__ uint32_t& error_word(int row, int source) const {
        return reinterpret_cast<uint32_t*>(shared.errors)[(warp_row + row) * tile_tokens / 2 + source / 2];
    }
    // Moves errors that are not finite from the factors to shared memory: a product would multiply later ones
    // by zero, which gives NaN.
    __device__ void set_nonfinite_aside(P::Left (&errors)[4]) {
        uint32_t largest = 0;  // of two words, without their signs
#pragma unroll
        for (const P::Left& left : errors)
#pragma unroll
            for (const uint32_t two : left.a) largest = __vmaxu2(largest, two & 0x7fff7fffu);
        const bool is_strange = (largest & 0xffffu) >= 0x7f80u || largest >= 0x7f800000u;
        has_nonfinite = __any_sync(device::whole_warp, is_strange);
        if (!has_nonfinite) return;
        device::sync_warp();  // all lanes have added those of the tile before
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int at = 0; at < 4; ++at) {
                uint32_t& two = errors[k].a[at];
                const uint32_t finite = device::without_nonfinite<device::bf16>(two);
                error_word(device::row_of_lane() + at % 2 * 8,
                           16 * k + at / 2 * 8 + device::column_of_lane()) = two ^ finite;
                two = finite;
            }
        device::sync_warp();  // all errors of the warp's rows are visible
    }
    // Adds what was set aside to y of the tokens that see it.
    __device__ void add_nonfinite(const Element* weights, Tile (&y)[8]) const {
        const auto* const w = reinterpret_cast<const unsigned char*>(weights);
#pragma unroll 1
        for (int source = 0; source < tile_tokens; ++source)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const uint32_t two = error_word(device::row_of_lane() + 8 * half, source);
                const uint32_t bits = source % 2 == 0 ? two << 16 : two & 0xffff0000u;
                if (bits == 0) continue;
#pragma unroll
                for (int n = 0; n < 8; ++n)
#pragma unroll
                    for (int k = 0; k < 2; ++k) {
                        const int token = 8 * n + device::column_of_lane() + k;
                        const auto* const of_token =
                            reinterpret_cast<const Element*>(w + Swizzled::offset(token, 2 * source));
                        if (source <= token)
                            y[n][2 * half + k] += __uint_as_float(bits) * P::value(*of_token);
                    }
            }
    }

    // Makes y^T of a tile and stores it by a copy of the block's box, which leaves out tokens after the last
    // one.
    __device__ void store_y(int tile, int slot) {
        Tile y[8];
#pragma unroll
        for (int n = 0; n < 8; ++n) {
            scale_tokens(reads[n], shared.coefficients[slot].of_tokens, n, y[n]);
#pragma unroll
            for (int at = 0; at < 4; ++at) y[n][at] += own[n][at];
        }
        if (has_nonfinite) add_nonfinite(shared.weights[slot], y);
        device::sync_warp();  // no lane reads the slot any more
        shared.weight_ring.leave(slot);
        for_each_pair(shared.y[slot], [&](int n, int half, uint32_t& pair) {
            pair = device::transpose(P::pair(y[n][2 * half], y[n][2 * half + 1]));
        });
        device::make_stores_visible_to_products();
        const bool copies = threadIdx.x == 0;
        if (copies) device::wait_until_boxes_are_read();
        device::sync_group();  // the whole box is visible, and the one of the tile before may be overwritten
        if (!copies) return;
        device::store_box(given.y, shared.y[slot], rows.first,
                          static_cast<int>(given.chain.tiling.first) + tile * tile_tokens,
                          static_cast<int>(rows.batch));
        device::end_batch_of_boxes();
    }

    // E^T = M X^T - U^T.
    __device__ void subtract_values(const uint32_t (&values)[8][2], Tile (&e)[8]) const {
#pragma unroll
        for (int n = 0; n < 8; ++n)
#pragma unroll
            for (int at = 0; at < 4; ++at) {
                const uint32_t two = values[n][at / 2];
                e[n][at] = products[n][at] - __uint_as_float(at % 2 == 0 ? two << 16 : two & 0xffff0000u);
            }
    }
    // Starts M -= E^T diag(w) K.
    __device__ void start_update(const Tile (&e)[8], const float* factors, const Element* keys) {
        P::Left weighed[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            Tile two[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) scale_tokens(e[2 * k + i], factors, 2 * k + i, two[i]);
            weighed[k] = P::left(two[0], two[1]);
        }
        device::keep_in_place(m);
        device::begin_products();
#pragma unroll
        for (int k = 0; k < 4; ++k)
            Step<d>::template add<true>(m, weighed[k], Swizzled::columns(keys, 16 * k * 128, box_bytes));
        device::end_products();
    }
    // Starts `own` = E^T W^T.
    __device__ void start_own(const Tile (&e)[8], const Element* weights) {
        P::Left errors[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) errors[k] = P::left(e[2 * k], e[2 * k + 1]);
        set_nonfinite_aside(errors);
        device::keep_in_place(own);
        device::begin_products();
#pragma unroll
        for (int k = 0; k < 4; ++k)
            Step<tile_tokens>::template add<false>(own, errors[k], Swizzled::rows(weights, 32 * k), k > 0);
        device::end_products();
    }

    __device__ void run() {
        const TilingArguments& tiling = given.chain.tiling;
        load_m();
        Place place;
        Slot slot;
        for (int tile = 0; tile < tiling.tiles; ++tile, place.advance(), slot.advance()) {
            Stage& stage = shared.stages[place.slot];
            const Coefficients& coefficients = shared.coefficients[slot.slot];
            if (given.chain.boundaries && opens_chunk(tiling, tile))
                store_boundary(tokens_of(tiling, tile).first / given.chain.chunk);
            P::Left of_m[d / 16];
#pragma unroll
            for (int k = 0; k < d / 16; ++k) of_m[k] = P::left(m[2 * k], m[2 * k + 1]);
            shared.ring.wait_until_full(place);
            shared.weight_ring.wait_until_full(slot);  // the queries are final, too
#pragma unroll
            for (Tile& tile_of_m : m)
#pragma unroll
                for (float& element : tile_of_m) element *= coefficients.a;
            start_product(of_m, stage.solved, products);
            if (tile > 0) store_y(tile - 1, slot.slot ^ 1);
            start_product(of_m, stage.queries, reads);
            uint32_t values[8][2];
            for_each_pair(stage.values, [&](int n, int half, const uint32_t& pair) {
                values[n][half] = device::transpose(pair);
            });
            device::wait_for_products<1>();
            device::keep_in_place(products);
            Tile e[8];
            subtract_values(values, e);
            start_update(e, coefficients.of_sources, stage.keys);
            start_own(e, shared.weights[slot.slot]);
            device::wait_for_products<0>();
            device::keep_in_place(m);
            device::keep_in_place(reads);
            device::keep_in_place(own);
            shared.ring.leave(place.slot);
        }
        store_y(tiling.tiles - 1, slot.slot ^ 1);
        const bool is_end = tiling.last == given.chain.length;
        store_m(is_end ? given.chain.m.to : given.chain.m.live);
        if (given.chain.boundaries && is_end) store_boundary(given.chain.boundary_count - 1);
        if (threadIdx.x == 0) device::wait_for_boxes();
    }
};

// Grid: strips of rows, batch. Block (x, y) owns rows 64 x … 64 x + 63 of M of sequence y.
//   reads    keys and queries [batch, length, d], solved and values [batch, last - origin, d], gates [batch,
//            length]; M before the first token
//   writes   y [batch, length, d], the block's columns; M after the last token; boundaries
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    chain_fused(const __grid_constant__ ChainFusedArguments given) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    if (threadIdx.x == 0) {
        shared.ring.start(1, 2 * group_threads / 32);
        shared.weight_ring.start(group_threads, group_threads / 32);
        device::make_barriers_visible();
    }
    device::sync_block();  // barriers are visible to all
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int group = device::uniform_warp_of_thread() / 4;
    // The producer is a whole group, which leaves its registers to the others.
    if (group == 0) {
        device::take_registers<240>();
        Walkers{given, shared}.run();
    } else if (group == 1) {
        device::take_registers<240>();
        Weighers{given, shared}.run();
    } else {
        device::keep_registers<24>();
        if (threadIdx.x == 2 * group_threads) produce(given, shared);
    }
}

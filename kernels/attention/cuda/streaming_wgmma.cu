// Attention in one pass over the keys with the warpgroup products and tensor copies of Hopper. Each group of
// four warps owns bands of 64 queries, and one more warp, the producer, copies tiles of keys and values into
// a ring of slots in shared memory:
//   near tile: k1, v      far tile: k2, v      mixed tile: k1, k2, v
// A step is a tile and a band. Its scores are multiplied together with the values of the step before, and two
// groups take turns at the tensor cores, so that the softmax of one runs during the products of the other:
//   group 0    q k^T of 2, p v of 1    softmax of 2            q k^T of 3, p v of 2    …
//   group 1    softmax of 1            q k^T of 2, p v of 1    softmax of 2            …
// Probabilities go in registers from the sums of one product to the left factor of the next.
//
// Defines: THREADS, SHARED_BYTES, BLOCK_M, BLOCK_N, HEAD, STAGES, PRECISION (bf16 or f16), CAUSAL,
// ZERO_SCALE, SHARING, CACHE, MANY_TILES (whether there are more than a few tiles of keys).

#include "kernels/attention/cuda/hidden.cuh"
#include "kernels/attention/cuda/softmax.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tensor_copy.cuh"
#include "kernels/cuda/device/warpgroup.cuh"

using namespace sawtooth;
using namespace sawtooth::attention;

constexpr auto precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;
template <int columns>
using Step = device::WarpgroupStep<precision, columns>;

// With two groups of consumers the producer is a whole group, which leaves most of its registers to them.
constexpr int producers = THREADS / 32 > 8 ? 4 : 1;
constexpr int consumers = THREADS / 32 - producers, groups = consumers / 4;  // warps, and groups of four
constexpr int bands = BLOCK_M / (64 * groups);                               // bands of 64 queries of a group
// A copy brings boxes of this many columns, of which a matrix has `boxes`.
constexpr int box_columns = HEAD < 64 ? HEAD : 64, boxes = HEAD / box_columns;
constexpr int row_bytes = box_columns * 2;
constexpr int slots = 2 * STAGES + 1;  // keys and values of every stage, and the second keys of a mixed tile
constexpr int lag = bands == 1 ? 1 : 0;  // values of a tile follow the keys of the tile `lag` later
// Tiles without hidden pairs have a loop of their own. With few tiles, fetching its code takes longer than it
// saves; with several bands registers are too scarce for it.
constexpr bool clear_loop = MANY_TILES && bands == 1;
// The registers of a consumer thread for sums, scores and probabilities; up to 80 leave room for a third
// thread block of one group, and up to 112 for a second.
constexpr int registers = bands * HEAD / 2 + BLOCK_N / 2 + BLOCK_N / 4;
constexpr int blocks_at_once = groups > 1 ? 1 : registers <= 80 ? 3 : registers <= 112 ? 2 : 1;
using Swizzled = device::Swizzled<row_bytes>;
static_assert(THREADS == 32 * (4 * groups + producers) && BLOCK_M == 64 * groups * bands,
              "whole groups of warps");

// Matrices are [boxes][rows][box_columns], as they are copied.
struct Shared {
    alignas(1024) Element near_queries[BLOCK_M * HEAD];
    Element far_queries[BLOCK_M * HEAD];
    Element slots[::slots][BLOCK_N * HEAD];
    device::Barrier queries;
    device::RingBarriers<::slots> ring;
    int has_nonfinite;  // set when a group has cleared numbers of values
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

template <int rows>
__device__ void copy_rows(const TensorMap& map, Element* to, device::Barrier& barrier, int first,
                          int64_t head) {
    device::copy_boxes<boxes, rows, box_columns>(map, to, barrier, first, static_cast<int>(head));
}

// Copies all tiles, in one thread. Consumers take the slots in this order: with one band per group they need
// the values of a tile after the keys of the next one.
__device__ void produce(Shared& shared, const WarpgroupArguments& given, const Mask& mask, int query,
                        int tiles, int64_t head) {
    shared.queries.arrive_and_expect(2 * BLOCK_M * HEAD * 2);
    const int row = query - static_cast<int>(first_query(given.arguments));
    copy_rows<BLOCK_M>(given.q1, shared.near_queries, shared.queries, row, head);
    copy_rows<BLOCK_M>(given.q2, shared.far_queries, shared.queries, row, head);
    device::RingPlace<slots> place;
    const auto push = [&](const TensorMap& map, int key) {
        device::Barrier& full = shared.ring.begin_to_fill(place);
        full.arrive_and_expect(BLOCK_N * HEAD * 2);
        copy_rows<BLOCK_N>(map, shared.slots[place.slot], full, key, head / SHARING);
        place.advance();
    };
    for (int tile = 0; tile < tiles + lag; ++tile) {
        const int key = tile * BLOCK_N;
        if (tile < tiles) {
            const TileKind kind = mask.kind(query, query + BLOCK_M, key, key + BLOCK_N);
            if (kind != TileKind::far) push(given.k1, key);
            if (kind != TileKind::near) push(given.k2, key);
        }
        if (tile >= lag) push(given.v, key - lag * BLOCK_N);
    }
}

// The consumers' end of the ring. Slots are released in the order in which they were taken.
struct Ring {
    Shared& shared;
    device::RingPlace<slots> taken, released;

    __device__ Element* take() {
        Element* const slot = shared.slots[taken.slot];
        shared.ring.wait_until_full(taken);
        taken.advance();
        return slot;
    }
    __device__ void release() {
        shared.ring.leave(released.slot);
        released.advance();
    }
};

// Starts scores = queries * keys^T for the 64 queries from `row` on.
template <int tiles>
__device__ void start_scores(const Element* queries, int row, const Element* keys, Tile (&scores)[tiles]) {
    const Element* const first = queries + row * box_columns;
    device::keep_in_place(scores);
    device::begin_products();
#pragma unroll
    for (int k = 0; k < HEAD / 16; ++k) {
        const int b = 16 * k / box_columns, bytes = 16 * k % box_columns * 2;
        Step<tiles>::template add<false>(scores, Swizzled::rows(first, b * BLOCK_M * row_bytes + bytes),
                                         Swizzled::rows(keys, b * BLOCK_N * row_bytes + bytes), k > 0);
    }
    device::end_products();
}

using Factors = P::Left[BLOCK_N / 16];

// Starts sums += probabilities * values.
__device__ void start_sums(const Factors& probabilities, const Element* values, Tile (&sums)[head_tiles]) {
    device::keep_in_place(sums);
    device::begin_products();
#pragma unroll
    for (int k = 0; k < BLOCK_N / 16; ++k)
        Step<head_tiles>::template add<true>(
            sums, probabilities[k], Swizzled::columns(values, 16 * k * row_bytes, BLOCK_N * row_bytes));
    device::end_products();
}

// Returns true if the thread finds an infinity or NaN among its vectors of a tile of values.
__device__ bool finds_nonfinite(const Element* values) {
    const auto* const vectors = reinterpret_cast<const uint4*>(values);
    uint32_t largest = 0;  // of two words, without their signs
#pragma unroll 4
    for (int at = static_cast<int>(threadIdx.x) % 128; at < BLOCK_N * HEAD / 8; at += 128) {
        const uint4 vector = vectors[at];
        for (const uint32_t two : {vector.x, vector.y, vector.z, vector.w})
            largest = __vmaxu2(largest, two & 0x7fff7fffu);
    }
    return (largest & 0xffffu) >= device::PRECISION::exponent || largest >> 16 >= device::PRECISION::exponent;
}

// Replaces infinities and NaN of values by zeros, and returns true if the tile had any. They must not meet
// the zeros of hidden pairs (hidden.cuh). A product cannot leave pairs out, and a branch between products
// would make the compiler wait for each of them. So in tiles with hidden pairs such numbers become zeros
// before the product, and are added at the end to the queries that see them. Each group looks at the whole
// tile, so that it waits only for itself. Where the other group was there before, it finds zeros, and
// `found_by_any` set, which is stored before the zeros and read after them.
__device__ bool clear_nonfinite(Element* values, volatile int& found_by_any) {
    const bool finds = finds_nonfinite(values);
    device::order_stores_of_block();
    if (!device::any_of_group(finds || found_by_any != 0)) return false;
    auto* const vectors = reinterpret_cast<uint4*>(values);
    for (int at = static_cast<int>(threadIdx.x) % 128; at < BLOCK_N * HEAD / 8; at += 128) {
        uint4 vector = vectors[at];
        bool changes = false;
        for (uint32_t* const two : {&vector.x, &vector.y, &vector.z, &vector.w}) {
            const uint32_t kept = device::without_nonfinite<device::PRECISION>(*two);
            changes = changes || kept != *two;
            *two = kept;
        }
        if (!changes) continue;
        found_by_any = 1;
        device::order_stores_of_block();
        vectors[at] = vector;
    }
    device::make_stores_visible_to_products();
    device::sync_group();
    return true;
}

// Adds the infinities and NaN of all tiles with hidden pairs to the sums of the queries that see them.
__device__ void add_nonfinite(const Arguments& given, const Mask& mask, int64_t head, int first, int query,
                              int tiles, Tile (&sums)[head_tiles]) {
    const auto* const values = static_cast<const Element*>(given.v) + key_row(given, head, 0) * HEAD;
    for (int tile = 0; tile < tiles; ++tile) {
        const int end = min((tile + 1) * BLOCK_N, mask.length);
        if (!mask.forbids(first, tile * BLOCK_N, (tile + 1) * BLOCK_N)) continue;
        for (int key = tile * BLOCK_N; key < end; ++key)
#pragma unroll
            for (int n = 0; n < head_tiles; ++n)
#pragma unroll
                for (int at = 0; at < 4; ++at) {
                    const float value = P::value(
                        values[static_cast<int64_t>(key) * HEAD + 8 * n + device::column_of_lane() + at % 2]);
                    const bool strange = !(fabsf(value) <= 3.402823466e38f);
                    if (strange && mask.allows(query + device::row_of_lane() + at / 2 * 8, key))
                        sums[n][at] += value;
                }
    }
}

// What a tile needs besides products and softmax: nothing, a look for hidden pairs, or that look and the
// choice between two encodings. No tile before one that needs nothing has hidden pairs.
// The first tile counts as one that may have them, so that a tile that needs nothing follows another one.
enum class Care { none, hides, mixed };

// A group of four warps and its queries.
struct Consumer {
    Shared& shared;
    const Arguments& given;
    const Mask& mask;
    const int query;  // the first of the thread block
    const int group = device::uniform_warp_of_thread() / 4, first = query + group * bands * 64;
    const int down = device::warp_of_thread() % 4 * 16;
    const float factor = factor_of(given.scale);
    Ring ring{shared};
    OnlineSoftmax rows[bands];
    Factors probabilities;
    Element* values = nullptr;
    bool has_nonfinite = false;

    __device__ TileKind kind(int tile) const {
        return mask.kind(query, query + BLOCK_M, tile * BLOCK_N, (tile + 1) * BLOCK_N);
    }
    __device__ Care care(int tile) const {
        if (kind(tile) == TileKind::mixed) return Care::mixed;
        const bool hides =
            tile == 0 || !clear_loop || mask.forbids(query, tile * BLOCK_N, (tile + 1) * BLOCK_N);
        return hides ? Care::hides : Care::none;
    }
    // Returns the end of a run of tiles like `tile`; it may go on behind it.
    __device__ int end_of_run(int tile, int tiles) const {
        const int mine = tile + device::lane_of_thread();
        const bool differs = mine >= tiles || kind(mine) != kind(tile) || care(mine) != care(tile);
        const unsigned others = __ballot_sync(device::whole_warp, differs);
        return tile + (others == 0 ? 32 : __ffs(others) - 1);
    }

    template <Care needed>
    __device__ void take_values(int key) {
        values = ring.take();
        if constexpr (needed == Care::none) return;
        // This asks about all queries of the thread block: the groups share the tile, so that a number that
        // one group clears is missing for the other.
        if (mask.forbids(query, key, key + BLOCK_N) && clear_nonfinite(values, shared.has_nonfinite))
            has_nonfinite = true;
    }

    // Adds a tile of keys. `queries` are those of its encoding, or the near ones of a mixed tile.
    template <Care needed>
    __device__ void visit(const Element* queries, int tile) {
        constexpr bool is_mixed = needed == Care::mixed;
        const int key = tile * BLOCK_N;
        const Element* const keys = ring.take();
        const Element* const far_keys = is_mixed ? ring.take() : nullptr;
#pragma unroll
        for (int b = 0; b < bands; ++b) {
            constexpr int last = bands - 1;
            OnlineSoftmax& before = rows[b == 0 ? last : b - 1];
            const int row = (group * bands + b) * 64;
            Tile scores[key_tiles];
            if constexpr (groups == 2) device::wait_for_turn(group);
            start_scores(queries, row, keys, scores);
            const bool follows = needed == Care::none || b > 0 || tile > 0;
            if (follows) {
                if (b == 1 - lag) take_values<needed>(key - lag * BLOCK_N);
                start_sums(probabilities, values, before.sums);
                if constexpr (groups == 2) device::pass_turn(1 - group);
                device::wait_for_products<0>();
            } else {
                if constexpr (groups == 2) device::pass_turn(1 - group);
                device::wait_for_products<0>();
            }
            device::keep_in_place(scores);
            device::keep_in_place(before.sums);
            if constexpr (is_mixed) {
                // Mixed tiles are few and registers are scarce, so this takes a few keys at a time.
                constexpr int some = key_tiles < 4 ? key_tiles : 4;
#pragma unroll
                for (int n = 0; n < key_tiles; n += some) {
                    Tile far[some];
                    start_scores(shared.far_queries, row, far_keys + 8 * n * box_columns, far);
                    device::wait_for_products<0>();
                    device::keep_in_place(far);
                    choose(mask, query + row + down, key + 8 * n, far, &scores[n]);
                }
            }
            if (b == last && lag == 1) release_keys<is_mixed>();
            apply_zero_scale(scores);
            if (needed != Care::none && mask.forbids(query + row + down, key, key + BLOCK_N))
                hide(mask, query + row + down, key, scores);
            if (b == 0 && follows) ring.release();
            if (b == last && lag == 0) release_keys<is_mixed>();
            weigh(rows[b], scores, needed != Care::none && tile == 0);
        }
    }
    // Turns scores into probabilities. They are relative to the largest score of earlier tiles, which is
    // seldom so far below those of this tile that a sum of a lane is beyond `far`, and then is raised. So the
    // largest score of a tile is hardly ever asked for, and sums are hardly ever rescaled.
    __device__ void weigh(OnlineSoftmax& row, const Tile (&scores)[key_tiles], bool is_first) {
        constexpr float far = 256;
        bool raised[2] = {is_first, is_first};
        float sum[2];
#pragma unroll 1
        for (bool raises = is_first;; raises = true) {
            if (raises) row.raise(scores, factor, raised);
            Tile weights[key_tiles];
            row.weigh_as_is(scores, factor, weights, sum);
#pragma unroll
            for (int k = 0; k < BLOCK_N / 16; ++k)
                probabilities[k] = P::left(weights[2 * k], weights[2 * k + 1]);
            if (raises) break;
            raised[0] = sum[0] > far, raised[1] = sum[1] > far;
            if (!__any_sync(device::whole_warp, raised[0] || raised[1])) break;
        }
        row.total[0] += sum[0];
        row.total[1] += sum[1];
    }
    template <bool is_mixed>
    __device__ void release_keys() {
        ring.release();
        if constexpr (is_mixed) ring.release();
    }

    __device__ void run(int tiles, int64_t head) {
#pragma unroll
        for (OnlineSoftmax& band : rows) band.start();
        shared.queries.wait(0);
        if (groups == 2 && group == 1) device::pass_turn(0);  // the first turn
        for (int tile = 0; tile < tiles;) {
            const int end = end_of_run(tile, tiles);
            const Care needed = care(tile);
            if (needed == Care::mixed) {
                for (; tile < end; ++tile) visit<Care::mixed>(shared.near_queries, tile);
                continue;
            }
            const Element* const queries =
                kind(tile) == TileKind::far ? shared.far_queries : shared.near_queries;
            if (clear_loop && needed == Care::none) {
                for (; tile < end; ++tile) visit<Care::none>(queries, tile);
            } else {
                for (; tile < end; ++tile) visit<Care::hides>(queries, tile);
            }
        }
        if (lag == 1) take_values<Care::hides>((tiles - 1) * BLOCK_N);
        start_sums(probabilities, values, rows[bands - 1].sums);
        device::wait_for_products<0>();
#pragma unroll
        for (int b = 0; b < bands; ++b) {
            device::keep_in_place(rows[b].sums);
            const int row = first + b * 64 + down;
            if (has_nonfinite) add_nonfinite(given, mask, head, query, row, tiles, rows[b].sums);
            rows[b].finish<device::PRECISION>(given, head, row);
        }
    }
};

// The queries and the head of a thread block. Thread blocks start in the order of their numbers, and those
// with the most tiles must start first, or the device waits for the last of them. So the blocks of a few
// heads are sorted by their tiles; more heads at a time would not leave their keys in L2.
struct Place {
    int query, head;

    __device__ explicit Place(int first_of_all) {
        constexpr int together = 4;
        const int first = static_cast<int>(blockIdx.y) / together * together;
        const int heads = min(together, static_cast<int>(gridDim.y) - first);
        const int at = (static_cast<int>(blockIdx.y) - first) * static_cast<int>(gridDim.x) +
                       static_cast<int>(blockIdx.x);
        query = first_of_all + (static_cast<int>(gridDim.x) - 1 - at / heads) * BLOCK_M;
        head = first + at % heads;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, blocks_at_once)
    forward(const __grid_constant__ WarpgroupArguments given) {
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    if (threadIdx.x == 0) {
        shared.has_nonfinite = 0;
        shared.queries.start(1);
        shared.ring.start(1, consumers);
        device::make_barriers_visible();
    }
    device::sync_block();  // barriers are visible to all
    const Mask mask(given.arguments.length, given.arguments.window);
    const Place place(static_cast<int>(first_query(given.arguments)));
    const int query = place.query, tiles = key_tiles_of(mask, query + BLOCK_M);
    const int64_t head = place.head;
    if (device::warp_of_thread() < consumers) {
        if constexpr (groups > 1) device::take_registers<240>();
        Consumer{shared, given.arguments, mask, query}.run(tiles, head);
    } else {
        if constexpr (groups > 1) device::keep_registers<24>();
        if (threadIdx.x == 32 * consumers) produce(shared, given, mask, query, tiles, head);
    }
}

// The gradients from o, lse and the gradient of o with the warpgroup products and tensor copies of Hopper,
// five products a pair. A thread block owns BLOCK_N keys of a head, 64 for each group of four warps, and
// keeps the sums of dk and dv in registers while STEP queries at a time pass by; one more warp, the producer,
// copies them into a ring of stages. With
//   p = exp2(s log2 e - lse), ds = p (do . v - delta)      (delta: preprocess.cu)
// a step of the groups is, transposed so that keys are rows,
//   tensor cores   k q^T, v do^T              dv += p^T do      dq = ds k, dk += ds^T q
//   other units                     p, ds     ds to shared  |   dq to shared, added to memory
// At the bar the groups meet: dq sums over the keys of all groups, and each group makes a part of it. Where
// thread blocks add to the same dq, the order of their additions differs from run to run. Near queries pass
// before far ones, each with their encoding; a mixed step passes twice, with the pairs of the other encoding
// hidden. Where heads share keys, the queries of all of them pass.
//
// Defines: THREADS, SHARED_BYTES, BLOCK_N, STEP, HEAD, STAGES, PRECISION (bf16 or f16), CAUSAL, SHARING,
// CACHE.

#include "kernels/attention/cuda/hidden.cuh"
#include "kernels/attention/cuda/mask.cuh"
#include "kernels/attention/cuda/rows.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tensor_copy.cuh"
#include "kernels/cuda/device/tiles.cuh"
#include "kernels/cuda/device/warpgroup.cuh"

using namespace sawtooth;
using namespace sawtooth::attention;
using device::Tile;

constexpr auto precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;
template <int columns>
using Product = device::WarpgroupStep<precision, columns>;

constexpr int groups = BLOCK_N / 64, consumers = 4 * groups;  // groups of four warps, and their warps
// A copy brings boxes of 64 columns, of which a vector has `boxes`.
constexpr int row_bytes = 128, boxes = HEAD / 64;
using Swizzled = device::Swizzled<row_bytes>;
// The part of dq that a group makes: 64 queries, and columns.
constexpr int panels = STEP / 64, dq_columns = HEAD * panels / groups;
constexpr int head_tiles = HEAD / 8, step_tiles = STEP / 8, dq_tiles = dq_columns / 8;
static_assert(HEAD % 64 == 0 && STEP % 64 == 0 && panels <= groups && dq_columns % 64 == 0, "whole boxes");

// Matrices are [boxes][rows][64], as they are copied.
struct Shared {
    alignas(1024) Element k1[BLOCK_N * HEAD];
    Element k2[BLOCK_N * HEAD], v[BLOCK_N * HEAD];
    Element ds[2][panels][BLOCK_N][64];         // transposed: keys are rows
    float dq[groups][dq_columns / 32][64][32];  // in boxes of 32 columns
    Element q[STAGES][STEP * HEAD], dout[STAGES][STEP * HEAD];
    float lse[STAGES][STEP], delta[STAGES][STEP];
    device::Barrier own;
    device::RingBarriers<STAGES> ring;
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// The distances query - key of the pairs of an encoding that the mask allows: a range or, for far pairs in
// both directions, what is outside.
struct Distances {
    int low;
    uint32_t count;
    bool outside;

    __device__ bool have(int distance) const {
        return (static_cast<uint32_t>(distance - low) < count) != outside;
    }
};

// Where the queries that pass the owned keys begin and end, and what their pairs are.
struct Passing {
    const Mask mask;
    const int first_query, own;  // the positions of the first query and of the first owned key

    __device__ int position(int step) const { return first_query + step * STEP; }
    __device__ TileKind kind(int step) const {
        return mask.kind(position(step), position(step) + STEP, own, own + BLOCK_N);
    }
    __device__ int first() const { return CAUSAL ? max(own - first_query, 0) / STEP : 0; }
    __device__ int end() const { return (mask.length - first_query + STEP - 1) / STEP; }
    // Returns the first step from `step` on with pairs of that kind, or end() if there is none.
    __device__ int next(int step, TileKind wanted) const {
        while (step < end() && kind(step) != wanted && kind(step) != TileKind::mixed) ++step;
        return step;
    }
    __device__ bool hides(int step) const {
        return kind(step) == TileKind::mixed || mask.forbids(position(step), own, own + BLOCK_N) ||
               position(step) + STEP > mask.length;
    }
    __device__ Distances distances(TileKind wanted) const {
        const bool far = wanted == TileKind::far;
        if (!CAUSAL) return {1 - mask.window, static_cast<uint32_t>(2 * mask.window - 1), far};
        return {far ? mask.window : 0, far ? 1u << 31 : static_cast<uint32_t>(mask.window), false};
    }
    // Returns true if the pair is of that kind. The padding of the last step does not count.
    __device__ bool sees(int query, int key, TileKind wanted) const {
        return query < mask.length && mask.allows(query, key) &&
               mask.is_near(query, key) == (wanted == TileKind::near);
    }
};

using Place = device::RingPlace<STAGES>;

template <int rows>
__device__ void copy_rows(const TensorMap& map, Element* to, device::Barrier& barrier, int first,
                          int64_t head) {
    device::copy_boxes<boxes, rows, 64>(map, to, barrier, first, static_cast<int>(head));
}

// Copies the owned keys and all steps, in one warp.
__device__ void produce(Shared& shared, const WarpgroupBackwardArguments& given, const Passing& passing,
                        int64_t key_head) {
    const int lane = device::lane_of_thread();
    const Arguments& arrays = given.arguments;
    if (lane == 0) {
        shared.own.arrive_and_expect(3 * BLOCK_N * HEAD * 2);
        copy_rows<BLOCK_N>(given.k1, shared.k1, shared.own, passing.own, key_head);
        copy_rows<BLOCK_N>(given.k2, shared.k2, shared.own, passing.own, key_head);
        copy_rows<BLOCK_N>(given.v, shared.v, shared.own, passing.own, key_head);
    }
    Place place;
    for (const TileKind wanted : {TileKind::near, TileKind::far})
        for (int64_t head = key_head * SHARING; head < (key_head + 1) * SHARING; ++head)
            for (int step = passing.next(passing.first(), wanted); step < passing.end();
                 step = passing.next(step + 1, wanted)) {
                const int first = step * STEP;  // of the rows of queries
                device::Barrier& full = shared.ring.begin_to_fill(place);
                if (lane == 0) {
                    full.arrive_and_expect(2 * STEP * HEAD * 2);
                    copy_rows<STEP>(wanted == TileKind::near ? given.q1 : given.q2, shared.q[place.slot],
                                    full, first, head);
                    copy_rows<STEP>(given.dout, shared.dout[place.slot], full, first, head);
                }
#pragma unroll
                for (int i = lane; i < STEP; i += 32) {
                    const bool there = passing.position(step) + i < passing.mask.length;
                    const int64_t row = query_row(arrays, head, passing.position(step) + i);
                    shared.lse[place.slot][i] = there ? arrays.lse[row] : __int_as_float(0x7f800000);
                    shared.delta[place.slot][i] = there ? arrays.delta[row] : 0;
                }
                full.arrive();
                place.advance();
            }
}

// Starts sums = rows * columns^T for 64 of BLOCK_N rows, from `first` on.
__device__ void start_scores(const Element* rows, int first, const Element* columns,
                             Tile (&sums)[step_tiles]) {
    device::keep_in_place(sums);
    device::begin_products();
#pragma unroll
    for (int k = 0; k < HEAD / 16; ++k) {
        const int b = 16 * k / 64, bytes = 16 * k % 64 * 2;
        Product<step_tiles>::template add<false>(
            sums, Swizzled::rows(rows + first * 64, b * BLOCK_N * row_bytes + bytes),
            Swizzled::rows(columns, b * STEP * row_bytes + bytes), k > 0);
    }
    device::end_products();
}

using Factors = P::Left[STEP / 16];

// Starts sums += factors * queries, where `queries` is q or do.
__device__ void start_sums(const Factors& factors, const Element* queries, Tile (&sums)[head_tiles]) {
    device::keep_in_place(sums);
    device::begin_products();
#pragma unroll
    for (int k = 0; k < STEP / 16; ++k)
        Product<head_tiles>::template add<true>(
            sums, factors[k], Swizzled::columns(queries, 16 * k * row_bytes, STEP * row_bytes));
    device::end_products();
}

__device__ void pack(const Tile (&from)[step_tiles], Factors& factors) {
#pragma unroll
    for (int k = 0; k < STEP / 16; ++k) factors[k] = P::left(from[2 * k], from[2 * k + 1]);
}

// The element of a matrix [rows, columns] of boxes with `box_rows` rows.
__device__ float element(const Element* matrix, int box_rows, int row, int column) {
    return P::value(matrix[column / 64 * box_rows * 64 + Swizzled::offset(row, column % 64 * 2) / 2]);
}

// Multiplies [64 rows of a group, inner] with [inner, columns] pair by pair, where counts(row, k), and calls
// keep(row, column, sum) for the numbers that a thread holds of a product. It uses few registers, as it
// stands beside code that needs them all.
template <int columns, class Left, class Right, class Counts, class Keep>
__device__ void multiply_pairs(int inner, Left left, Right right, Counts counts, Keep keep) {
    const int first = device::warp_of_thread() % 4 * 16 + device::row_of_lane();
#pragma unroll 1
    for (int row = first; row < first + 16; row += 8)
#pragma unroll 1
        for (int at = 0; at < columns / 4; ++at) {
            const int column = at / 2 * 8 + device::column_of_lane() + at % 2;
            float sum = 0;
#pragma unroll 1
            for (int k = 0; k < inner; ++k)
                if (counts(row, k)) sum = fmaf(left(row, k), right(k, column), sum);
            keep(row, column, sum);
        }
}

// The sums of a group of four warps for its 64 keys.
struct Group {
    Shared& shared;
    const WarpgroupBackwardArguments& given;
    const Passing passing;
    const int64_t key_head;
    const int number = device::uniform_warp_of_thread() / 4;
    const float factor = given.arguments.scale * log2_e;
    Tile dk[head_tiles], dv[head_tiles];
    Place place;
    int buffer = 0;  // of ds

    // The rows of a warp in a product of the group: keys, or queries of dq.
    __device__ int row() const { return device::warp_of_thread() % 4 * 16; }
    __device__ int key() const { return 64 * number + row(); }  // among the owned keys
    // The first query of the group's part of dq among those of a step, and its first column.
    __device__ int dq_query() const { return panels == 1 ? 0 : 64 * number; }
    __device__ int dq_column() const { return panels == 1 ? dq_columns * number : 0; }

    // Returns true if a query of a step and an owned key are a pair of that kind.
    __device__ bool counts(int step, int query, int key, TileKind wanted) const {
        return passing.sees(passing.position(step) + query, passing.own + key, wanted);
    }

    // Turns scores s and products dp into p and ds. With hidden pairs it returns whether some number is not
    // finite, which a vector with such a number makes of every score and product. The padding of queries has
    // lse of infinity; that of keys counts nowhere once clear_absent has been called.
    template <bool hides>
    __device__ bool weigh(int step, TileKind wanted, Tile (&s)[step_tiles], Tile (&dp)[step_tiles]) {
        constexpr float hidden = -1;  // no probability
        const float* const lse = shared.lse[place.slot];
        const float* const delta = shared.delta[place.slot];
        const Distances distances = passing.distances(wanted);
        const int apart =
            passing.position(step) + device::column_of_lane() - passing.own - key() - device::row_of_lane();
        float strange = 0;
#pragma unroll
        for (int n = 0; n < step_tiles; ++n) {
            const float2 two = *reinterpret_cast<const float2*>(lse + 8 * n + device::column_of_lane());
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if (hides) strange = fmaf(s[n][i], 0, strange);
                s[n][i] = exp2_of(s[n][i] * factor - (i % 2 ? two.y : two.x));
                if (hides && !distances.have(apart + 8 * n + i % 2 - i / 2 * 8)) s[n][i] = hidden;
            }
        }
        device::finish_before_wait(s);
        device::wait_for_products<0>();
        device::keep_in_place(dp);
#pragma unroll
        for (int n = 0; n < step_tiles; ++n) {
            const float2 two = *reinterpret_cast<const float2*>(delta + 8 * n + device::column_of_lane());
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                if (hides) strange = fmaf(dp[n][i], 0, strange);
                const bool is_hidden = hides && s[n][i] == hidden;
                if (is_hidden) s[n][i] = 0;
                dp[n][i] = is_hidden ? 0 : s[n][i] * (dp[n][i] - (i % 2 ? two.y : two.x));
            }
        }
        return strange != 0;
    }

    // Clears ds of absent keys. Their scores are 0, so that exp(0 - lse) may be infinite if all scores of a
    // query are far below 0. A causal mask hides them already.
    __device__ void clear_absent(Factors& ds) const {
        const int there = passing.mask.length - passing.own - key() - device::row_of_lane();
        if (CAUSAL || there > 8) return;
#pragma unroll
        for (int k = 0; k < STEP / 16; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (i % 2 * 8 >= there) ds[k].a[i] = 0;
    }

    __device__ void store_ds(const Factors& factors) {
        const int lane = device::lane_of_thread(), matrix = lane / 8;
        const int at = key() + lane % 8 + matrix % 2 * 8;
#pragma unroll
        for (int k = 0; k < STEP / 16; ++k)
            P::store_left(factors[k],
                          reinterpret_cast<Element*>(reinterpret_cast<char*>(shared.ds[buffer][k / 4]) +
                                                     Swizzled::offset(at, k % 4 * 32 + matrix / 2 * 16)));
    }

    __device__ void start_dq(const Element* keys, Tile (&dq)[dq_tiles]) {
        const Element* const panel = &shared.ds[buffer][dq_query() / 64][0][0];
        const Element* const columns = keys + dq_column() * BLOCK_N;
        device::keep_in_place(dq);
        device::begin_products();
#pragma unroll
        for (int k = 0; k < BLOCK_N / 16; ++k)
            Product<dq_tiles>::template add<true, true>(
                dq, Swizzled::columns(panel, 16 * k * row_bytes, 0),
                Swizzled::columns(columns, 16 * k * row_bytes, BLOCK_N * row_bytes), k > 0);
        device::end_products();
    }

    // Where a number of the group's part of dq lies in shared memory; the next column follows.
    __device__ float* place_of_dq(int r, int column) const {
        return reinterpret_cast<float*>(reinterpret_cast<char*>(shared.dq[number][column / 32]) +
                                        Swizzled::offset(r, column % 32 * 4));
    }
    __device__ void keep_dq(const Tile (&dq)[dq_tiles]) {
        const float scale = given.arguments.scale;
#pragma unroll
        for (int n = 0; n < dq_tiles; ++n)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                *reinterpret_cast<float2*>(place_of_dq(row() + device::row_of_lane() + 8 * half,
                                                       8 * n + device::column_of_lane())) = {
                    dq[n][2 * half] * scale, dq[n][2 * half + 1] * scale};
    }
    // Adds the group's part of dq to memory.
    __device__ void add_dq(const TensorMap& map, int step, int64_t head) {
        device::make_stores_visible_to_products();
        device::sync_group();
        if (threadIdx.x % 128 != 0) return;
#pragma unroll
        for (int b = 0; b < dq_columns / 32; ++b)
            device::add_box(map, shared.dq[number][b], dq_column() + 32 * b, step * STEP + dq_query(),
                            static_cast<int>(head));
        device::end_batch_of_boxes();
    }

    // Waits until the numbers of the last add_dq have been read, and all groups have stored their ds.
    __device__ void meet() {
        device::make_stores_visible_to_products();
        if (threadIdx.x % 128 == 0) device::wait_until_boxes_are_read();
        device::sync_threads<8, 32 * consumers>();
    }

    template <bool hides>
    __device__ void add(int step, TileKind wanted, int64_t head) {
        const Element* const q = shared.q[place.slot];
        const Element* const dout = shared.dout[place.slot];
        const Element* const keys = wanted == TileKind::near ? shared.k1 : shared.k2;
        shared.ring.wait_until_full(place);
        Tile s[step_tiles], dp[step_tiles];
        start_scores(keys, 64 * number, q, s);
        start_scores(shared.v, 64 * number, dout, dp);
        device::wait_for_products<1>();
        device::keep_in_place(s);
        const bool strange = weigh<hides>(step, wanted, s, dp);
        Factors p, ds;
        pack(s, p);
        pack(dp, ds);
        if (hides) clear_absent(ds);
        store_ds(ds);
        const bool by_pair = hides && device::any_of_threads<9, 32 * consumers>(strange);
        const TensorMap& map = wanted == TileKind::near ? given.dq1 : given.dq2;
        if (by_pair) {
            add_pairs(step, wanted, p, q, dout, keys);
            add_dq(map, step, head);
        } else {
            start_sums(p, dout, dv);
            meet();
            Tile dq[dq_tiles];
            start_dq(keys, dq);
            start_sums(ds, q, dk);
            device::wait_for_products<1>();
            device::keep_in_place(dv);
            device::keep_in_place(dq);
            keep_dq(dq);
            add_dq(map, step, head);
            device::wait_for_products<0>();
            device::keep_in_place(dk);
        }
        shared.ring.leave(place.slot);
        place.advance();
        buffer ^= 1;
    }

    template <class Left>
    __device__ void add_pairs_of_keys(int step, TileKind wanted, const Element* queries, float* sums,
                                      Left left) const {
        multiply_pairs<HEAD>(
            STEP, left, [&](int k, int column) { return element(queries, STEP, k, column); },
            [&](int r, int k) { return counts(step, k, 64 * number + r, wanted); },
            [&](int r, int column, float sum) {
                if (passing.own + 64 * number + r < passing.mask.length) sums[r * HEAD + column] += sum;
            });
    }

    // Multiplies the pairs of a step one by one, without the hidden ones (hidden.cuh). Sums wait in memory
    // meanwhile, and `p` in the room of dq.
    __device__ void add_pairs(int step, TileKind wanted, const Factors& p, const Element* q,
                              const Element* dout, const Element* keys) {
        float* const dk_of_group = rows_of(dk_of(wanted));
        float* const dv_of_group = rows_of(given.arguments.dv);
        store(dk, dk_of_group);
        store(dv, dv_of_group);
        meet();
        auto* const room = reinterpret_cast<Element*>(shared.dq[number]);  // [64, STEP]
        static_assert(sizeof shared.dq[0] >= 64 * STEP * sizeof(Element));
#pragma unroll
        for (int k = 0; k < STEP / 16; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                *reinterpret_cast<uint32_t*>(room + (row() + device::row_of_lane() + i % 2 * 8) * STEP +
                                             16 * k + i / 2 * 8 + device::column_of_lane()) = p[k].a[i];
        device::sync_group();
        const auto ds_of = [&](int key, int query) {
            return element(&shared.ds[buffer][query / 64][0][0], BLOCK_N, key, query % 64);
        };
        add_pairs_of_keys(step, wanted, dout, dv_of_group,
                          [&](int r, int k) { return P::value(room[r * STEP + k]); });
        add_pairs_of_keys(step, wanted, q, dk_of_group,
                          [&](int r, int k) { return ds_of(64 * number + r, k); });
        device::sync_group();  // all have used the room
        multiply_pairs<dq_columns>(
            BLOCK_N, [&](int r, int k) { return ds_of(k, dq_query() + r); },
            [&](int k, int column) { return element(keys, BLOCK_N, k, dq_column() + column); },
            [&](int r, int k) { return counts(step, dq_query() + r, k, wanted); },
            [&](int r, int column, float sum) { *place_of_dq(r, column) = sum * given.arguments.scale; });
        load(dk_of_group, dk);
        load(dv_of_group, dv);
    }

    __device__ float* dk_of(TileKind wanted) const {
        return wanted == TileKind::near ? given.arguments.dk1 : given.arguments.dk2;
    }
    // The rows of the group in an array of keys.
    __device__ float* rows_of(float* array) const {
        return array + key_row(given.arguments, key_head * SHARING, passing.own + 64 * number) * HEAD;
    }
    __device__ void store(const Tile (&sums)[head_tiles], float* to) const {
        const int there = passing.mask.length - passing.own - key();
        device::store_rows<device::f32, HEAD>(sums, max(min(16, there), 0), to + row() * HEAD);
        device::sync_warp();  // `load` reads what other lanes stored
    }
    __device__ void load(const float* from, Tile (&sums)[head_tiles]) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int r = row() + device::row_of_lane() + 8 * half;
            if (passing.own + 64 * number + r >= passing.mask.length) continue;
#pragma unroll
            for (int n = 0; n < head_tiles; ++n) {
                const float2 two =
                    *reinterpret_cast<const float2*>(from + r * HEAD + 8 * n + device::column_of_lane());
                sums[n][2 * half] = two.x, sums[n][2 * half + 1] = two.y;
            }
        }
    }

    __device__ void run() {
        device::clear(dv);
        shared.own.wait(0);
#pragma unroll 1
        for (const TileKind wanted : {TileKind::near, TileKind::far}) {
            device::clear(dk);
#pragma unroll 1
            for (int64_t head = key_head * SHARING; head < (key_head + 1) * SHARING; ++head)
                for (int step = passing.next(passing.first(), wanted); step < passing.end();
                     step = passing.next(step + 1, wanted)) {
                    if (passing.hides(step))
                        add<true>(step, wanted, head);
                    else
                        add<false>(step, wanted, head);
                }
            device::scale_row(dk, 0, given.arguments.scale);
            device::scale_row(dk, 1, given.arguments.scale);
            store(dk, rows_of(dk_of(wanted)));
        }
        store(dv, rows_of(given.arguments.dv));
        if (threadIdx.x % 128 == 0) device::wait_for_boxes();
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    backward(const __grid_constant__ WarpgroupBackwardArguments given) {
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    if (threadIdx.x == 0) {
        shared.own.start(1);
        shared.ring.start(33, consumers);  // the lanes of the producer, and one of them for the copies
        device::make_barriers_visible();
    }
    device::sync_block();  // barriers are visible to all
    // The first keys, which most queries see, come first.
    const Passing passing{Mask(given.arguments.length, given.arguments.window),
                          static_cast<int>(first_query(given.arguments)),
                          static_cast<int>(blockIdx.x) * BLOCK_N};
    const int64_t key_head = blockIdx.y;
    if (device::warp_of_thread() < consumers) {
        if constexpr (groups > 1) device::take_registers<240>();
        Group{shared, given, passing, key_head}.run();
    } else {
        if constexpr (groups > 1) device::keep_registers<24>();
        if (device::warp_of_thread() == consumers) produce(shared, given, passing, key_head);
    }
}

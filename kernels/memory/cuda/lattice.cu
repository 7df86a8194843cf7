// The slots of lattice, token by token: g = sigmoid(s . k), c = s . v,
//   EXACT       s = normalise((1 - g c) s + g v)
//   SUMS        x = x - g c s + g v with s the slot at the chunk's boundary, where x is normalised
//   LINEARISED  x = (1 - g c) x + g v, likewise
// and y = sum of softmax(s . q) s over all slots, s = normalise(x). Eight lanes own a slot in shared memory,
// lane p of them its columns 4 (p + 8 j) … + 3; no other thread touches them. With READS, a block owns all
// slots of a sequence and computes y, for a single tile if slots are frozen. Without READS, strips of slots
// walk all tiles and store the state of every tile.
//
// Example, d = 2, EXACT: s = [1 0], k = [0 0] and v = [0 2] give g = 1/2 and c = 0, so x = [1 0] + [0 1] and
// s becomes [0.71 0.71].
//
// Defines: THREADS, SHARED_BYTES, X (storage), WIDTH (d), SLOT_COUNT, UPDATE (exact, sums, linearised),
// READS, AT_BOUNDARY, NORMALISE, SLOTS (of a block, a multiple of its teams), GROUP (tokens staged together),
// LOCAL (whether the tokens are cut into local memories, with EXACT).

#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/lane_row.cuh"
#include "kernels/cuda/device/rows.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/gates.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

enum class Update { exact, sums, linearised };
constexpr Update update = Update::UPDATE;
constexpr bool is_frozen = update != Update::exact;

using Storage = device::X;
using Word = Storage::Word;
constexpr int d = WIDTH, lanes = 8, row = device::round_up(d, 4 * lanes);
constexpr int teams = THREADS / lanes, rounds = SLOTS / teams;  // slots per team, one after another
constexpr int group = GROUP;
static_assert(THREADS % 32 == 0 && SLOTS % teams == 0,
              "whole warps and the same number of slots for every team");
static_assert(READS || is_frozen, "token by token, every token is read");

// Slot n of the block belongs to team n % teams; only its lanes read and write it.
struct Shared {
    alignas(16) float k[group][row], v[group][row], q[READS ? group : 1][row];
    alignas(16) float x[SLOTS][row];  // slots; unit vectors if every token normalises them
    alignas(16) float boundary[is_frozen ? SLOTS : 1][row];  // slots at the start of the chunk
    alignas(16) float partial_y[READS ? teams : 1][row];     // y over the slots of one team
    float largest[teams], weights[teams];
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

using Row = device::LaneRow<row, lanes>;

__device__ float sum_of_team(float value) { return device::sum_of_lanes<lanes>(value); }

// Eight lanes of one warp, which process the team's slots one after another. They share registers and rows
// that no other team touches, so they need no barriers.
struct Team {
    int lane, number;  // lane of the team; number of the team in the block

    __device__ Team() : lane(threadIdx.x % lanes), number(threadIdx.x / lanes) {}
    __device__ int slot(int round) const { return round * teams + number; }

    // Loads slots of a sequence [slot_count, d] from `first` on into shared memory. A missing slot becomes a
    // unit vector, so that it can be normalised like any other.
    __device__ void load(const float* from, int first, float (*to)[row], bool normalises) const {
        for (int round = 0; round < rounds; ++round) {
            const int at = first + slot(round);
            Row slice;
            slice.load_unpadded(at < SLOT_COUNT ? from + at * d : nullptr, d, lane);
            if (at >= SLOT_COUNT && lane == 0) slice[0] = 1;
            if (normalises) slice.scale(slice.inverse_norm());
            slice.store(to[slot(round)], lane);
        }
    }
    // Stores the slots back, without the missing ones.
    __device__ void store(float* to, int first, const float (*from)[row]) const {
        for (int round = 0; round < rounds; ++round) {
            const int at = first + slot(round);
            Row slice;
            slice.load(from[slot(round)], lane);
            if (at < SLOT_COUNT) slice.store_unpadded(to + at * d, d, lane);
        }
    }

    // Applies one token to one slot. g and c use `base`: the slot itself or the boundary's slot. All lanes of
    // the team take part in both sums.
    __device__ void step(const Row& base, const Row& k, const Row& v, Row& x) const {
        const float gate = device::sigmoid(sum_of_team(base.dot(k))), taken = gate * sum_of_team(base.dot(v));
#pragma unroll
        for (int j = 0; j < Row::columns; ++j) {
            // In sums, both terms use the boundary's slot, so tokens simply add up.
            if constexpr (update == Update::sums)
                x[j] += gate * v[j] - taken * base[j];
            else
                x[j] = (1 - taken) * x[j] + gate * v[j];
        }
        if constexpr (!is_frozen) x.scale(x.inverse_norm());
    }

    // Applies tokens 0 … count - 1 of the group to all slots of the team, without reading. A slot stays in
    // registers, and as the boundary is fixed, the gates of neighbouring tokens overlap.
    __device__ void take_all(Shared& shared, int count) const {
        for (int round = 0; round < rounds; ++round) {
            Row x, base;
            x.load(shared.x[slot(round)], lane);
            base.load(shared.boundary[slot(round)], lane);
#pragma unroll 4
            for (int i = 0; i < count; ++i) {
                Row k, v;
                k.load(shared.k[i], lane);
                v.load(shared.v[i], lane);
                step(base, k, v, x);
            }
            x.store(shared.x[slot(round)], lane);
        }
    }

    // Applies token i to all slots of the team and reads them; stores the team's partial y in shared memory.
    __device__ void take_and_read(Shared& shared, int i) const {
        Row k, v, q, y = {};
        k.load(shared.k[i], lane);
        v.load(shared.v[i], lane);
        q.load(shared.q[i], lane);
        // Online softmax (Milakov, Gimelshein 2018): weights are relative to the largest score so far.
        float largest = -__int_as_float(0x7f800000), weights = 0;
        for (int round = 0; round < rounds; ++round) {
            Row x, base;
            x.load(shared.x[slot(round)], lane);
            base.load(is_frozen ? shared.boundary[slot(round)] : shared.x[slot(round)], lane);
            step(base, k, v, x);
            x.store(shared.x[slot(round)], lane);
            // Reads the boundary's slot, or the current one.
            if (AT_BOUNDARY && is_frozen)
                x = base;
            else if (is_frozen)
                x.scale(x.inverse_norm());
            const float score = sum_of_team(x.dot(q));
            if (slot(round) < SLOT_COUNT) add(score, x, largest, weights, y);
        }
        y.store(shared.partial_y[number], lane);
        if (lane == 0) shared.largest[number] = largest, shared.weights[number] = weights;
    }

    // Adds one slot to the softmax; y and `weights` are relative to the largest score so far. The comparison
    // is inverted so that a NaN becomes the largest score and stays it.
    static __device__ void add(float score, const Row& slot, float& largest, float& weights, Row& y) {
        const float now = !(score <= largest) ? score : largest;
        const float kept = weights > 0 ? expf(largest - now) : 0, weight = expf(score - now);
        weights = weights * kept + weight;
#pragma unroll
        for (int j = 0; j < Row::columns; ++j) y[j] = y[j] * kept + weight * slot[j];
        largest = now;
    }
};

// Loads rows of `count` tokens from `first` on, one warp per row; a barrier must follow.
__device__ void load_tokens(const Arguments& given, int64_t batch, int64_t first, int count, Shared& shared) {
    for (int at = device::warp_of_thread(); at < 3 * count; at += THREADS / 32) {
        const int which = at / count, i = at % count;
        if (which == 2 && !READS) break;
        const void* const from = which == 0 ? given.k : which == 1 ? given.v : given.q;
        float* const to = which == 0 ? shared.k[i] : which == 1 ? shared.v[i] : shared.q[READS ? i : 0];
        device::stage_row<Storage, d, row>(
            static_cast<const Word*>(from) + (batch * given.length + first + i) * d, true,
            NORMALISE && which != 1, to);
    }
}

// Combines the partial y of the teams, each a softmax over the team's own slots. Call it between two
// barriers.
__device__ void store_y(const Arguments& given, int64_t batch, int64_t token, const Shared& shared) {
    float largest = shared.largest[0];
    for (int team = 1; team < teams; ++team)
        if (!(shared.largest[team] <= largest)) largest = shared.largest[team];
    for (int column = threadIdx.x; column < d; column += THREADS) {
        float sum = 0, weights = 0;
        for (int team = 0; team < teams; ++team) {
            // Skips teams without slots, which have no weight, but not a NaN.
            if (!(shared.weights[team] > 0 || shared.weights[team] != shared.weights[team])) continue;
            const float factor = expf(shared.largest[team] - largest);
            weights += factor * shared.weights[team];
            sum += factor * shared.partial_y[team][column];
        }
        static_cast<Word*>(given.y)[batch * given.y_stride + token * d + column] =
            Storage::narrow(sum / weights);
    }
}

// Walks the block's slots over tokens.
struct Walk {
    const Arguments& given;
    Shared& shared;
    Team team;
    int64_t batch;
    int first_slot;

    // Loads the first group of `tokens` into shared memory.
    __device__ void stage(Range tokens) {
        load_tokens(given, batch, tokens.first, tokens.count() < group ? tokens.count() : group, shared);
    }
    // Applies all of `tokens`; the first group is already staged.
    __device__ void take(Range tokens) {
        while (true) {
            const int count = tokens.count() < group ? tokens.count() : group;
            device::sync_block();  // the group is visible to all teams
            if constexpr (!READS) team.take_all(shared, count);
            for (int i = 0; READS && i < count; ++i) {
                if (!is_frozen) put_boundary(tokens.first + i);
                team.take_and_read(shared, i);
                device::sync_block();  // the partial y of all teams are visible
                store_y(given, batch, tokens.first + i, shared);
                device::sync_block();  // they are combined: the next token may overwrite them
            }
            tokens.first += count;
            if (tokens.count() <= 0) return;
            device::sync_block();  // all teams are done with the group: it may be overwritten
            stage(tokens);
        }
    }
    // Element `number` of an array of [slot_count, d] states.
    __device__ float* slots_at(float* states, int64_t number) const {
        return states + number * SLOT_COUNT * d;
    }
    // Stores the slots before the first token of a chunk.
    __device__ void put_boundary(int64_t token) {
        if (!given.boundaries || token % given.chunk != 0) return;
        team.store(slots_at(given.boundaries, batch * given.boundary_count + token / given.chunk), first_slot,
                   shared.x);
    }
    // Between launches slots are stored unchanged; only the initial slots are normalised.
    __device__ void load_state() {
        team.load(given.m.from + batch * SLOT_COUNT * d, first_slot, shared.x, given.first == 0);
    }
    __device__ void store_state() {
        if (given.m.to) team.store(slots_at(given.m.to, batch), first_slot, shared.x);
        if (given.boundaries && given.last == given.length)
            team.store(slots_at(given.boundaries, (batch + 1) * given.boundary_count - 1), first_slot,
                       shared.x);
    }
};

// Copies the team's slots within shared memory: at the start of a chunk to the boundary; at its end onto
// themselves, normalised, so that the next chunk starts from unit vectors. Inside a chunk x is not
// normalised, because that is not linear.
__device__ void copy_slots(const Team& team, const float (*from)[row], float (*to)[row], bool normalises) {
    for (int round = 0; round < rounds; ++round) {
        Row x;
        x.load(from[team.slot(round)], team.lane);
        if (normalises) x.scale(x.inverse_norm());
        x.store(to[team.slot(round)], team.lane);
    }
}

// Grid: exact: 1, or the local memories of tnt, batch; a block owns all slots and its tokens, and the last
// local memory passes its slots on. Frozen with READS: tiles, batch; a block owns
// all slots and the tokens of tile x. Frozen without READS: strips of slots, batch; a block owns slots x
// SLOTS … + SLOTS - 1 and all tokens. Team t of a block owns its slots t, t + teams, ….
//   reads    k, v, q [batch, length, d]; m.from [batch, slot_count, d], or, if frozen with READS, tile_slots
//            [batch, tiles, slot_count, d] of the tile and of its chunk
//   writes   with READS y [batch, length, d], the block's tokens; otherwise tile_slots; m.to and boundaries
//            [batch, boundary_count, slot_count, d] if it walks
// Rows are zero-padded to `row` numbers, slots to SLOTS by unit vectors that no softmax counts.
extern "C" __global__ void __launch_bounds__(THREADS) lattice(Arguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const TilingArguments& tiling = given.tiling;
    Walk walk{given, shared, Team(), static_cast<int64_t>(blockIdx.y), 0};
    const int own_tile = is_frozen && READS ? blockIdx.x : 0;
    Range tokens = is_frozen ? tokens_of(tiling, own_tile) : Range{given.first, given.last};
    if constexpr (LOCAL) {
        tokens.first += blockIdx.x * given.local_tokens;
        if (tokens.count() > given.local_tokens) tokens.last = tokens.first + given.local_tokens;
    }
    // Tokens are inputs that no earlier launch writes; slots may be written by one.
    walk.stage(tokens);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    if constexpr (!is_frozen) {
        walk.load_state();
        walk.take(tokens);
        if (!LOCAL || tokens.last == given.last) walk.store_state();
    } else if constexpr (READS) {
        // Loads the state of the tile, and that of the first tile of its chunk.
        const int64_t first_state = walk.batch * tiling.tiles;
        const int opening = own_tile - own_tile % tiling.tiles_a_chunk;
        walk.team.load(walk.slots_at(given.tile_slots, first_state + own_tile), 0, shared.x, false);
        walk.team.load(walk.slots_at(given.tile_slots, first_state + opening), 0, shared.boundary, false);
        walk.take(tokens);
    } else {
        walk.first_slot = blockIdx.x * SLOTS;
        walk.load_state();
        for (int tile = 0; tile < tiling.tiles; ++tile) {
            if (tile > 0) {
                tokens = tokens_of(tiling, tile);
                device::sync_block();  // all teams are done with the previous tile: it may be overwritten
                walk.stage(tokens);
            }
            if (opens_chunk(tiling, tile)) {
                walk.put_boundary(tokens.first);
                copy_slots(walk.team, shared.x, shared.boundary, false);
            }
            walk.team.store(walk.slots_at(given.tile_slots, walk.batch * tiling.tiles + tile),
                            walk.first_slot, shared.x);
            walk.take(tokens);
            if (closes_chunk(tiling, tile)) copy_slots(walk.team, shared.x, shared.x, true);
        }
        walk.store_state();
    }
}

// The slots of lattice, token by token: g = sigmoid(s . k), c = s . v,
//   EXACT       s = normalise((1 - g c) s + g v)
//   SUMS        x = x - g c s + g v, s the slot at the chunk's boundary; x is normalised there
//   LINEARISED  x = (1 - g c) x + g v, likewise
// and y = sum of softmax(s . q) s over all slots, s = normalise(x). Eight lanes have a slot, lane p of them
// its columns 4 (p + 8 j) … + 3; slots lie in shared memory, where no thread sees another's. READS: with y,
// for all slots of a batch item, of a tile for itself where they are frozen; else strips of slots walk all
// tiles and leave every tile's state.
//
// d = 2, EXACT, s = [1 0], k = [0 0] and v = [0 2]: g = 1/2, c = 0, so that x = [1 0] + [0 1], and s becomes
// [0.71 0.71].
//
// Defines: THREADS, SHARED_BYTES, X (storage), WIDTH (d), SLOT_COUNT, UPDATE (exact, sums, linearised),
// READS, AT_BOUNDARY, NORMALISE, SLOTS (of a block, a multiple of its teams), GROUP (tokens staged at once).

#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/lane_row.cuh"
#include "kernels/cuda/device/rows.cuh"
#include "kernels/memory/cuda/gates.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

enum class Update { exact, sums, linearised };
constexpr Update update = Update::UPDATE;
constexpr bool is_frozen = update != Update::exact;

using Storage = device::X;
using Word = Storage::Word;
constexpr int d = WIDTH, lanes = 8, row = device::round_up(d, 4 * lanes);
constexpr int teams = THREADS / lanes, rounds = SLOTS / teams;  // of slots that a team has one after another
constexpr int group = GROUP;
static_assert(THREADS % 32 == 0 && SLOTS % teams == 0, "whole warps, and as many slots for every team");
static_assert(READS || is_frozen, "token by token each one is read");

// Slot n of the block is of team n % teams, whose lanes alone read and write it.
struct Shared {
    alignas(16) float k[group][row], v[group][row], q[READS ? group : 1][row];
    alignas(16) float x[SLOTS][row];  // slots, unit vectors where every token normalises them
    alignas(16) float boundary[is_frozen ? SLOTS : 1][row];  // slots where the chunk began
    alignas(16) float parts[READS ? teams : 1][row];  // of y, with its largest score and the sum of weights
    float largest[teams], weights[teams];
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

using Row = device::LaneRow<row, lanes>;

__device__ float sum_of_team(float value) { return device::sum_of_lanes<lanes>(value); }

// Eight lanes, of one warp, that take the team's slots past a token one after another: what they share is in
// registers and in rows that no other team touches, so that no barrier stands between them.
struct Team {
    int lane, number;  // of the block

    __device__ Team() : lane(threadIdx.x % lanes), number(threadIdx.x / lanes) {}
    __device__ int slot(int round) const { return round * teams + number; }

    // Slots of a batch item [slot_count, d] from `first` on, into shared memory. One that is not there is a
    // unit vector, so that it can be normalised like any other.
    __device__ void load(const float* from, int first, float (*to)[row], bool normalises) const {
        for (int round = 0; round < rounds; ++round) {
            const int at = first + slot(round);
            Row part;
            part.load_unpadded(at < SLOT_COUNT ? from + at * d : nullptr, d, lane);
            if (at >= SLOT_COUNT && lane == 0) part[0] = 1;
            if (normalises) part.scale(part.inverse_norm());
            part.store(to[slot(round)], lane);
        }
    }
    // The same way back; what is not there is not stored.
    __device__ void store(float* to, int first, const float (*from)[row]) const {
        for (int round = 0; round < rounds; ++round) {
            const int at = first + slot(round);
            Row part;
            part.load(from[slot(round)], lane);
            if (at < SLOT_COUNT) part.store_unpadded(to + at * d, d, lane);
        }
    }

    // One slot takes one token: g and c come of `base`, the slot itself or that of the boundary. All lanes of
    // the team take part in both sums.
    __device__ void step(const Row& base, const Row& k, const Row& v, Row& x) const {
        const float gate = device::sigmoid(sum_of_team(base.dot(k))), taken = gate * sum_of_team(base.dot(v));
#pragma unroll
        for (int j = 0; j < Row::columns; ++j) {
            // Sums: both terms are of the boundary's slot, so that tokens only add up.
            if constexpr (update == Update::sums)
                x[j] += gate * v[j] - taken * base[j];
            else
                x[j] = (1 - taken) * x[j] + gate * v[j];
        }
        if constexpr (!is_frozen) x.scale(x.inverse_norm());
    }

    // All slots of the team take the group's tokens 0 … count - 1, unread: a slot stays in registers
    // meanwhile, and as the boundary stands still the gates of neighbouring tokens are worked on at once.
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

    // All slots of the team take token i and are read; the team's part of y comes to lie in shared memory.
    __device__ void take_and_read(Shared& shared, int i) const {
        Row k, v, q, y = {};
        k.load(shared.k[i], lane);
        v.load(shared.v[i], lane);
        q.load(shared.q[i], lane);
        // The softmax is online (Milakov, Gimelshein 2018): scores seen so far are relative to the largest.
        float largest = -__int_as_float(0x7f800000), weights = 0;
        for (int round = 0; round < rounds; ++round) {
            Row x, base;
            x.load(shared.x[slot(round)], lane);
            base.load(is_frozen ? shared.boundary[slot(round)] : shared.x[slot(round)], lane);
            step(base, k, v, x);
            x.store(shared.x[slot(round)], lane);
            // What is read of: the boundary's slot, or the slot now.
            if (AT_BOUNDARY && is_frozen)
                x = base;
            else if (is_frozen)
                x.scale(x.inverse_norm());
            const float score = sum_of_team(x.dot(q));
            if (slot(round) < SLOT_COUNT) add(score, x, largest, weights, y);
        }
        y.store(shared.parts[number], lane);
        if (lane == 0) shared.largest[number] = largest, shared.weights[number] = weights;
    }

    // A slot more of a softmax whose largest score is known so far: y and `weights` are relative to it. The
    // comparison is turned round so that a NaN becomes the largest and stays it.
    static __device__ void add(float score, const Row& slot, float& largest, float& weights, Row& y) {
        const float now = !(score <= largest) ? score : largest;
        const float kept = weights > 0 ? expf(largest - now) : 0, weight = expf(score - now);
        weights = weights * kept + weight;
#pragma unroll
        for (int j = 0; j < Row::columns; ++j) y[j] = y[j] * kept + weight * slot[j];
        largest = now;
    }
};

// Rows of `count` tokens from `first` on, a warp a row; seen by others after a barrier.
__device__ void load_tokens(const LatticeArguments& given, int64_t batch, int64_t first, int count,
                            Shared& shared) {
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

// The teams' parts of y, each from a softmax of its own slots, become y. Between two barriers.
__device__ void store_y(const LatticeArguments& given, int64_t batch, int64_t token, const Shared& shared) {
    float largest = shared.largest[0];
    for (int team = 1; team < teams; ++team)
        if (!(shared.largest[team] <= largest)) largest = shared.largest[team];
    for (int column = threadIdx.x; column < d; column += THREADS) {
        float sum = 0, weights = 0;
        for (int team = 0; team < teams; ++team) {
            // A team without slots has no weight; a NaN is no reason to leave it out.
            if (!(shared.weights[team] > 0 || shared.weights[team] != shared.weights[team])) continue;
            const float factor = expf(shared.largest[team] - largest);
            weights += factor * shared.weights[team];
            sum += factor * shared.parts[team][column];
        }
        static_cast<Word*>(given.y)[batch * given.y_stride + token * d + column] =
            Storage::narrow(sum / weights);
    }
}

// The block's slots on their way past tokens.
struct Walk {
    const LatticeArguments& given;
    Shared& shared;
    Team team;
    int64_t batch;
    int first_slot;

    // The first group of `tokens` into shared memory.
    __device__ void stage(Range tokens) {
        load_tokens(given, batch, tokens.first, tokens.count() < group ? tokens.count() : group, shared);
    }
    // All of `tokens`, whose first group is staged.
    __device__ void take(Range tokens) {
        while (true) {
            const int count = tokens.count() < group ? tokens.count() : group;
            __syncthreads();  // the group, which warps loaded by rows and all teams read
            if constexpr (!READS) team.take_all(shared, count);
            for (int i = 0; READS && i < count; ++i) {
                if (!is_frozen) put_boundary(tokens.first + i);
                team.take_and_read(shared, i);
                __syncthreads();  // the parts of y, which teams wrote and threads add up column by column
                store_y(given, batch, tokens.first + i, shared);
                __syncthreads();  // they are added up: the next token's may take their place
            }
            tokens.first += count;
            if (tokens.count() <= 0) return;
            __syncthreads();  // all teams have taken the group: the next one may take its place
            stage(tokens);
        }
    }
    // Number `number` of an array of [slot_count, d] each.
    __device__ float* slots_at(float* states, int64_t number) const {
        return states + number * SLOT_COUNT * d;
    }
    // Slots before the token that opens a chunk.
    __device__ void put_boundary(int64_t token) {
        if (!given.boundaries || token % given.chunk != 0) return;
        team.store(slots_at(given.boundaries, batch * given.boundary_count + token / given.chunk), first_slot,
                   shared.x);
    }
    // Between launches slots lie as they are; only those that were given are normalised first.
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

// The team's slots from one place in shared memory to another: at the start of a chunk, what its tokens are
// compared with; at its end onto themselves, normalised, so that the next chunk starts from unit vectors.
// Inside a chunk x keeps its length, as normalising is not linear.
__device__ void copy_slots(const Team& team, const float (*from)[row], float (*to)[row], bool normalises) {
    for (int round = 0; round < rounds; ++round) {
        Row x;
        x.load(from[team.slot(round)], team.lane);
        if (normalises) x.scale(x.inverse_norm());
        x.store(to[team.slot(round)], team.lane);
    }
}

// Grid: exact: 1, batch; a block has all slots and all tokens. Frozen and read: tiles, batch; a block has all
// slots and the tokens of tile x. Frozen and not read: strips of slots, batch; a block has slots x SLOTS … +
// SLOTS - 1 and all tokens. Team t of a block has slots t, t + teams, … of the block's.
//   reads    k, v, q [batch, length, d]; m.from [batch, slot_count, d], or tile_slots
//            [batch, tiles, slot_count, d] where it is frozen and read: the tile's and its chunk's
//   writes   y [batch, length, d], the block's tokens, where it READS; else tile_slots; m.to and boundaries
//            [batch, boundary_count, slot_count, d] where it walks
// Rows are padded to `row` numbers by zeros, slots to SLOTS by unit vectors that no softmax counts.
extern "C" __global__ void __launch_bounds__(THREADS) lattice(LatticeArguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const TilingArguments& tiling = given.tiling;
    Walk walk{given, shared, Team(), static_cast<int64_t>(blockIdx.y), 0};
    const int own_tile = is_frozen && READS ? blockIdx.x : 0;
    Range tokens = is_frozen ? tokens_of(tiling, own_tile) : Range{given.first, given.last};
    // Tokens are inputs, which no launch before this one writes; slots are not.
    walk.stage(tokens);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    if constexpr (!is_frozen) {
        walk.load_state();
        walk.take(tokens);
        walk.store_state();
    } else if constexpr (READS) {
        // The tile's own state, and that of the tile which opens its chunk.
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
                __syncthreads();  // all teams have taken the tile before: this one may take its place
                walk.stage(tokens);
            }
            if (opens_chunk(tiling, tile)) {
                walk.put_boundary(tokens.first);
                copy_slots(walk.team, shared.x, shared.boundary, false);
            }
            walk.team.store(walk.slots_at(given.tile_slots, walk.batch * tiling.tiles + tile),
                            walk.first_slot, shared.x);
            walk.take(tokens);
            if (opens_chunk(tiling, tile + 1) || tile + 1 == tiling.tiles)
                copy_slots(walk.team, shared.x, shared.x, true);
        }
        walk.store_state();
    }
}

// The slots of lattice, token by token: g = sigmoid(s . k), c = s . v,
//   EXACT       s = normalise((1 - g c) s + g v)
//   SUMS        x = x - g c s + g v, s the slot at the chunk's boundary; x is normalised there
//   LINEARISED  x = (1 - g c) x + g v, likewise
// and y = sum of softmax(s . q) s over all slots, s = normalise(x). Eight lanes have a slot, lane p of them
// its columns 4 (p + 8 j) … + 3; slots lie in shared memory, where no thread sees another's. READS: with y,
// for all slots of a batch item, of a tile for itself where they are frozen; else strips of slots walk all
// tiles and leave every tile's state.
//
// Defines: X (storage), WIDTH (d), SLOT_COUNT, UPDATE (exact, sums, linearised), READS, AT_BOUNDARY,
// NORMALISE, WARPS, SLOTS (of a block, a multiple of 4 WARPS), GROUP (tokens staged at once).

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/memory/coefficients.cuh"
#include "kernels/memory/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

enum class Update { exact, sums, linearised };
constexpr Update update = Update::UPDATE;
constexpr bool is_frozen = update != Update::exact;

using Storage = device::X;
using Word = Storage::Word;
constexpr int d = WIDTH, lanes = 8, row = padded_to(d, 4 * lanes), columns = row / lanes;
constexpr int threads = 32 * WARPS, teams = threads / lanes, rounds = SLOTS / teams;
constexpr int group = GROUP;

struct Shared {
    alignas(16) float k[group][row], v[group][row], q[READS ? group : 1][row];
    alignas(16) float x[SLOTS][row];
    alignas(16) float boundary[is_frozen ? SLOTS : 1][row];
    alignas(16) float parts[READS ? teams : 1][row];  // of y, with its largest score and the sum of weights
    float largest[teams], weights[teams];
};

using Row = float[columns];

__device__ int column_of(int lane, int j) { return 4 * (lane + lanes * (j / 4)) + j % 4; }

__device__ void load_part(const float* from, int lane, Row& part) {
#pragma unroll
    for (int j = 0; j < columns; j += 4) {
        const float4 four = *reinterpret_cast<const float4*>(from + column_of(lane, j));
        part[j] = four.x, part[j + 1] = four.y, part[j + 2] = four.z, part[j + 3] = four.w;
    }
}

__device__ void store_part(const Row& part, int lane, float* to) {
#pragma unroll
    for (int j = 0; j < columns; j += 4)
        *reinterpret_cast<float4*>(to + column_of(lane, j)) = {part[j], part[j + 1], part[j + 2],
                                                               part[j + 3]};
}

template <class Number>
__device__ Number sum_of_team(Number value) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(device::whole_warp, value, step);
    return value;
}

__device__ float dot(const Row& left, const Row& right) {
    float sums[4] = {};
#pragma unroll
    for (int j = 0; j < columns; ++j) sums[j % 4] += left[j] * right[j];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

// 1 / max(norm, 1e-12) of a team's slot; the whole warp takes part.
__device__ float inverse_norm_of(const Row& part) {
    const float square = sum_of_team(dot(part, part));
    const bool is_plain = is_plain_square(square);
    if (!__any_sync(device::whole_warp, !is_plain)) return 1 / sqrtf(square);
    double wide = 0;
#pragma unroll
    for (int j = 0; j < columns; ++j) wide += static_cast<double>(part[j]) * static_cast<double>(part[j]);
    wide = sqrt(sum_of_team(wide));
    return is_plain ? 1 / sqrtf(square) : static_cast<float>(1 / (wide > 1e-12 ? wide : 1e-12));
}

__device__ void scale(Row& part, float factor) {
#pragma unroll
    for (int j = 0; j < columns; ++j) part[j] *= factor;
}

struct Team {
    int lane, number;  // of the block

    __device__ Team() : lane(threadIdx.x % lanes), number(threadIdx.x / lanes) {}
    __device__ int slot(int round) const { return round * teams + number; }

    // Slots of a batch item [slot_count, d] from `first` on, into shared memory. One that is not there is a
    // unit vector, so that it can be normalised like any other.
    __device__ void load(const float* from, int first, float (*to)[row], bool normalises) const {
        for (int round = 0; round < rounds; ++round) {
            Row part;
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                const int column = column_of(lane, j), at = first + slot(round);
                part[j] = at >= SLOT_COUNT ? column == 0 : column < d ? from[at * d + column] : 0;
            }
            if (normalises) scale(part, inverse_norm_of(part));
            store_part(part, lane, to[slot(round)]);
        }
    }
    __device__ void store(float* to, int first, const float (*from)[row]) const {
        for (int round = 0; round < rounds; ++round) {
            Row part;
            load_part(from[slot(round)], lane, part);
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                const int column = column_of(lane, j), at = first + slot(round);
                if (at < SLOT_COUNT && column < d) to[at * d + column] = part[j];
            }
        }
    }

    // One slot takes one token.
    __device__ void step(const Row& base, const Row& k, const Row& v, Row& x) const {
        const float gate = sigmoid_of(sum_of_team(dot(base, k))), taken = gate * sum_of_team(dot(base, v));
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            if constexpr (update == Update::sums)
                x[j] += gate * v[j] - taken * base[j];
            else
                x[j] = (1 - taken) * x[j] + gate * v[j];
        }
        if constexpr (!is_frozen) scale(x, inverse_norm_of(x));
    }

    // All slots of the team take token i; where it is read, the team's part of y comes to lie in shared
    // memory.
    __device__ void take(Shared& shared, int i) const {
        Row k, v, q, y = {};
        load_part(shared.k[i], lane, k);
        load_part(shared.v[i], lane, v);
        if (READS) load_part(shared.q[i], lane, q);
        float largest = -__int_as_float(0x7f800000), weights = 0;
        for (int round = 0; round < rounds; ++round) {
            Row x, base;
            load_part(shared.x[slot(round)], lane, x);
            load_part(is_frozen ? shared.boundary[slot(round)] : shared.x[slot(round)], lane, base);
            step(base, k, v, x);
            store_part(x, lane, shared.x[slot(round)]);
            if constexpr (READS) {
                if (AT_BOUNDARY && is_frozen)
#pragma unroll
                    for (int j = 0; j < columns; ++j) x[j] = base[j];
                else if (is_frozen)
                    scale(x, inverse_norm_of(x));
                const float score = sum_of_team(dot(x, q));
                if (slot(round) < SLOT_COUNT) add(score, x, largest, weights, y);
            }
        }
        if (!READS) return;
        store_part(y, lane, shared.parts[READS ? number : 0]);
        if (lane == 0) shared.largest[number] = largest, shared.weights[number] = weights;
    }

    // A slot more of a softmax whose largest score is known so far.
    static __device__ void add(float score, const Row& slot, float& largest, float& weights, Row& y) {
        const float now = !(score <= largest) ? score : largest;
        const float kept = weights > 0 ? expf(largest - now) : 0, weight = expf(score - now);
        weights = weights * kept + weight;
#pragma unroll
        for (int j = 0; j < columns; ++j) y[j] = y[j] * kept + weight * slot[j];
        largest = now;
    }
};

__device__ void load_tokens(const device_side::Slots& given, int64_t batch, int64_t first, int count,
                            Shared& shared) {
    const int lane = device::lane_of_thread();
    constexpr int each = (row + 31) / 32;
    for (int at = device::warp_of_thread(); at < 3 * count; at += WARPS) {
        const int which = at / count, i = at % count;
        if (which == 2 && !READS) break;
        const void* const from = which == 0 ? given.k : which == 1 ? given.v : given.q;
        const Word* const words = static_cast<const Word*>(from) + (batch * given.length + first + i) * d;
        float mine[each];
        load_row<Storage, d>(words, true, NORMALISE && which != 1, mine);
        float* const to = which == 0 ? shared.k[i] : which == 1 ? shared.v[i] : shared.q[READS ? i : 0];
#pragma unroll
        for (int k = 0; k < each; ++k) to[lane + 32 * k] = mine[k];
    }
}

// The teams' parts of y become y; between two barriers.
__device__ void store_y(const device_side::Slots& given, int64_t batch, int64_t token, const Shared& shared) {
    float largest = shared.largest[0];
    for (int team = 1; team < teams; ++team)
        if (!(shared.largest[team] <= largest)) largest = shared.largest[team];
    for (int column = threadIdx.x; column < d; column += threads) {
        float sum = 0, weights = 0;
        for (int team = 0; team < teams; ++team) {
            if (!(shared.weights[team] > 0 || shared.weights[team] != shared.weights[team])) continue;
            const float factor = expf(shared.largest[team] - largest);
            weights += factor * shared.weights[team];
            sum += factor * shared.parts[team][column];
        }
        static_cast<Word*>(given.y)[batch * given.y_stride + token * d + column] =
            narrowed<Storage>(sum / weights);
    }
}

struct Walk {
    const device_side::Slots& given;
    Shared& shared;
    Team team;
    int64_t batch;
    int first_slot;

    __device__ void take(Range tokens) {
        for (int64_t first = tokens.first; first < tokens.last; first += group) {
            const int count = static_cast<int>(tokens.last - first < group ? tokens.last - first : group);
            __syncthreads();
            load_tokens(given, batch, first, count, shared);
            __syncthreads();
            for (int i = 0; i < count; ++i) {
                if (!is_frozen) put_boundary(first + i);
                team.take(shared, i);
                if (!READS) continue;
                __syncthreads();
                store_y(given, batch, first + i, shared);
                __syncthreads();
            }
        }
    }
    __device__ float* slots_at(float* states, int64_t number) const {
        return states + number * SLOT_COUNT * d;
    }
    __device__ void put_boundary(int64_t token) {
        if (!given.boundaries || token % given.boundary_chunk != 0) return;
        team.store(slots_at(given.boundaries, batch * given.boundary_count + token / given.boundary_chunk),
                   first_slot, shared.x);
    }
    __device__ void load_live() {
        if (given.tiling.first == 0)
            team.load(given.given + batch * SLOT_COUNT * d, first_slot, shared.x, true);
        else
            team.load(slots_at(given.live, batch), first_slot, shared.x, false);
    }
    __device__ void store_live() {
        if (given.tiling.last < given.length)
            return team.store(slots_at(given.live, batch), first_slot, shared.x);
        if (given.final) team.store(slots_at(given.final, batch), first_slot, shared.x);
        if (given.boundaries)
            team.store(slots_at(given.boundaries, (batch + 1) * given.boundary_count - 1), first_slot,
                       shared.x);
    }
};

__device__ void normalise_slots(const Team& team, Shared& shared) {
    for (int round = 0; round < rounds; ++round) {
        Row x;
        load_part(shared.x[team.slot(round)], team.lane, x);
        scale(x, inverse_norm_of(x));
        store_part(x, team.lane, shared.x[team.slot(round)]);
    }
}

// Grid: exact: 1, batch. Frozen and read: tiles, batch. Frozen and not read: strips of slots, batch.
extern "C" __global__ void __launch_bounds__(threads) slots(device_side::Slots given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const device_side::Tiling& tiling = given.tiling;
    Walk walk{given, shared, Team(), static_cast<int64_t>(blockIdx.y), 0};
    if constexpr (!is_frozen) {
        walk.load_live();
        walk.take({tiling.first, tiling.last});
        walk.store_live();
    } else if constexpr (READS) {
        const int tile = blockIdx.x, opening = tile - tile % tiling.tiles_a_chunk;
        const int64_t first_state = walk.batch * tiling.tiles;
        walk.team.load(walk.slots_at(given.states, first_state + tile), 0, shared.x, false);
        walk.team.load(walk.slots_at(given.states, first_state + opening), 0, shared.boundary, false);
        walk.take(tokens_of(tiling, tile));
    } else {
        walk.first_slot = blockIdx.x * SLOTS;
        walk.load_live();
        for (int tile = 0; tile < tiling.tiles; ++tile) {
            const Range tokens = tokens_of(tiling, tile);
            if (opens_chunk(tiling, tile)) {
                walk.put_boundary(tokens.first);
                for (int round = 0; round < rounds; ++round) {
                    Row x;
                    load_part(shared.x[walk.team.slot(round)], walk.team.lane, x);
                    store_part(x, walk.team.lane, shared.boundary[walk.team.slot(round)]);
                }
            }
            walk.team.store(walk.slots_at(given.states, walk.batch * tiling.tiles + tile), walk.first_slot,
                            shared.x);
            walk.take(tokens);
            if (opens_chunk(tiling, tile + 1) || tile + 1 == tiling.tiles) normalise_slots(walk.team, shared);
        }
        walk.store_live();
    }
}

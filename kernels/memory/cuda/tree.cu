// associative_scan: (S, M) by a tree scan over matrices (Blelloch), element by element. Tokens change a state
// to M' = a M + b S + X, S' = h S + Z. Change 1 followed by change 2 is
//   a = a2 a1, b = a2 b1 + b2 h1, h = h2 h1, X = a2 X1 + b2 Z1 + X2, Z = h2 Z1 + Z2.
// Totals go up a binary tree over the GROUP tokens of a tile, states come down. A thread processes its
// elements of the matrices one after another, with the totals in registers; the scalars of the nodes, equal
// for all elements, are in shared memory. Errors are frozen at the chunk's boundary.
//
// Four tokens without decay (a = 1, b = 0) that add 1 2 3 4 to M = 10:
//   leaves        1   2   3   4
//   up            1   3   3  10      slot 1: 1 + 2; slot 3: 3 + 4, then all
//   down          1   3   3 [10]     the last slot gets the state before the tile
//                 1 [10]  3 [13]     slot 1 gets the same state, slot 3 that state plus slot 1
//               [10] [11][13] [16]   and M after each token: 11 13 16 20
//
// Defines: those of strip.cuh (GROUP: a power of two), AT_BOUNDARY (tokens read the boundary).

#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/strip.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

static_assert(GROUP <= 32 && (GROUP & (GROUP - 1)) == 0, "one warp builds the nodes of a binary tree");

// The columns of a state's row that a thread owns; thread t uses only column t of the array. They are in
// shared memory, because registers do not hold them beside the totals of a tile.
using Columns = float[columns][THREADS];

struct Shared {
    Staged staged;
    Columns m, s, boundary;
    float errors[IS_WINDOWED ? ring : 1][rows];  // at t % ring for token t, as in Staged
    float4 nodes[2 * group];  // a, b, h; leaves start at `group`, node n has children 2 n and 2 n + 1
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// Builds the nodes level by level: one lane per leaf, then one lane per node. One warp calls it. Leaves after
// the last token change nothing.
__device__ void make_nodes(const Arguments& given, const Tokens& tokens, int side, Shared& shared) {
    const int lane = device::lane_of_thread(), count = tokens.count();
    if (lane < group) {
        const Gate gate = lane < count ? gate_of(given, tokens, shared.staged, side, lane) : Gate{1, 0, 0};
        shared.nodes[group + lane] = {gate.decay, gate.keep, lane < count ? gate.keep : 1, gate.step};
    }
    for (int width = group / 2; width >= 1; width /= 2) {
        device::sync_warp();  // the level below, written by other lanes, is visible
        if (lane >= width) continue;
        const float4 one = shared.nodes[2 * (width + lane)], two = shared.nodes[2 * (width + lane) + 1];
        // First `one`, then `two`. Only leaves use the last number, the step.
        shared.nodes[width + lane] = {two.x * one.x, two.x * one.y + two.y * one.z, two.z * one.z, 0};
    }
}

// The totals of one element of the matrices, or the states that come down to it; slot t belongs to token t of
// the tile. All loops are unrolled, so that slots are registers.
struct Elements {
    float x[group], z[group];

    // Slot 2^(level + 1) i + 2^(level + 1) - 1 gets the total of its range; totals of left halves stay.
    __device__ void sweep_up(const float4* nodes) {
#pragma unroll
        for (int half = 1; half < group; half *= 2)
#pragma unroll
            for (int right = 2 * half - 1; right < group; right += 2 * half) {
                const float4 second = nodes[(group + right) / half];  // total of the right half
                const int left = right - half;
                if (HAS_MOMENTUM) {
                    x[right] += second.x * x[left] + second.y * z[left];
                    z[right] += second.z * z[left];
                } else {
                    x[right] += second.x * x[left];
                }
            }
    }
    // The last slot holds the state before the tile; every slot gets the state before its token.
    __device__ void sweep_down(const float4* nodes) {
#pragma unroll
        for (int half = group / 2; half >= 1; half /= 2)
#pragma unroll
            for (int right = 2 * half - 1; right < group; right += 2 * half) {
                const int left = right - half;
                const float4 first = nodes[(group + left) / half];  // total of the left half
                const float m = x[right], s = z[right];
                x[right] = first.x * m + x[left];
                if (HAS_MOMENTUM) {
                    x[right] += first.y * s;
                    z[right] = first.z * s + z[left];
                }
                x[left] = m;
                z[left] = s;
            }
    }
};

// Loads the thread's own columns into registers; no barrier needed.
__device__ Row row_of(const Columns& from) {
    Row slice;
#pragma unroll
    for (int j = 0; j < columns; ++j) slice[j] = from[j][threadIdx.x];
    return slice;
}

// A row of the boundary's memory times a row in shared memory; all lanes of the row get the sum.
__device__ float read_boundary(const Shared& shared, const float* from, int lane) {
    Row slice;
    slice.load(from, lane);
    return sum_of_row(row_of(shared.boundary).dot(slice));
}

// Computes row r of w = W silu([k; v]), with W [d, 2 d] in global memory: the error of a rule that does not
// read the memory.
__device__ float atlas_error(const Arguments& given, const Staged& staged, int i, int r, int lane) {
    float sum = 0;
    Row keys, values;
    keys.load(staged.inputs_of_w[i], lane);
    values.load(staged.inputs_of_w[i] + row, lane);
#pragma unroll
    for (int j = 0; j < columns; ++j) {
        const int column = Row::column(lane, j);
        if (r >= d || column >= d) continue;
        sum +=
            given.w_omega[r * 2 * d + column] * keys[j] + given.w_omega[r * 2 * d + d + column] * values[j];
    }
    return sum_of_row(sum);
}

// A thread's work: its columns of row r of the memory, which is row local_row of the block.
struct Tree {
    const Arguments& given;
    Shared& shared;
    int lane, local_row, r;
    float errors[group];

    // Computes the errors of all tokens of the tile against the boundary's memory; with windows, also those
    // of earlier tokens, which an earlier tile may have computed against another boundary. All lanes of a row
    // share an error.
    __device__ void make_errors(const Tokens& tokens) {
        const Staged& staged = shared.staged;
        if constexpr (IS_WINDOWED) {
            const int64_t from = first_of_window(tokens.first);
            for (int64_t token = from; token < tokens.first + tokens.count(); ++token) {
                const int slot = static_cast<int>(token % ring);
                const float e = read_boundary(shared, staged.k[slot], lane) - staged.v[slot][local_row];
                if (lane == 0) shared.errors[slot][local_row] = e;
            }
            device::sync_warp();  // errors, written by the first lane of the row, are visible
        } else {
#pragma unroll
            for (int i = 0; i < group; ++i) {
                errors[i] = 0;
                if (i >= tokens.count()) continue;
                const int slot = static_cast<int>((tokens.first + i) % ring);
                if constexpr (READS_MEMORY)
                    errors[i] = read_boundary(shared, staged.k[slot], lane) - staged.v[slot][local_row];
                else if constexpr (!READS_W_OMEGA)
                    errors[i] = -staged.v[slot][local_row];
                else
                    errors[i] = atlas_error(given, staged, i, r, lane);
            }
        }
    }

    // The update of token i for one column of S, and so of M: -theta e k; 0 after the last token.
    __device__ float leaf(const Tokens& tokens, int i, int column) const {
        const Staged& staged = shared.staged;
        if (i >= tokens.count()) return 0;
        const int64_t token = tokens.first + i;
        const float step = shared.nodes[group + i].w;
        if constexpr (IS_WINDOWED) {
            // All errors of the window; those before the chunk use the boundary's memory too.
            float sum = 0;
            for (int64_t source = first_of_window(given, tokens.batch, token); source <= token; ++source) {
                const int slot = static_cast<int>(source % ring);
                sum += shared.errors[slot][local_row] * staged.k[slot][column];
            }
            return -step * sum;
        } else {
            return -step * errors[i] * staged.k[token % ring][column];
        }
    }

    // Scans one column over all tokens and adds its products to y. The leaves are kept beside the totals,
    // which the up sweep overwrites: the state after a token is the state before it plus its leaf.
    __device__ void scan_column(const Tokens& tokens, int j, float (&y)[group]) {
        const int column = Row::column(lane, j);
        Elements elements;
        float leaves[group];
#pragma unroll
        for (int i = 0; i < group; ++i) leaves[i] = elements.x[i] = elements.z[i] = leaf(tokens, i, column);
        elements.sweep_up(shared.nodes);
        // The root drops the total and takes the state before the tile.
        elements.x[group - 1] = shared.m[j][threadIdx.x];
        elements.z[group - 1] = shared.s[j][threadIdx.x];
        elements.sweep_down(shared.nodes);
        // From the state before each token to the state after it.
        float m = 0, s = 0;
#pragma unroll
        for (int i = 0; i < group; ++i) {
            if (i >= tokens.count()) break;
            const float4 gate = shared.nodes[group + i];
            s = HAS_MOMENTUM ? gate.z * elements.z[i] + leaves[i] : leaves[i];
            m = gate.x * elements.x[i] + s;
            if (!AT_BOUNDARY) y[i] += m * shared.staged.q[i][column];
        }
        shared.m[j][threadIdx.x] = m;
        if (HAS_MOMENTUM) shared.s[j][threadIdx.x] = s;
    }

    // Scans column after column, then sums y of all tokens over the lanes of a row, once per tile: each lane
    // holds the sums over its own columns.
    __device__ void scan(const Tokens& tokens) {
        float y[group] = {};
        for (int j = 0; j < columns; ++j) scan_column(tokens, j, y);
#pragma unroll
        for (int i = 0; i < group; ++i) {
            if (i >= tokens.count()) break;
            const float sum =
                AT_BOUNDARY ? read_boundary(shared, shared.staged.q[i], lane) : sum_of_row(y[i]);
            if (lane == 0) shared.staged.y[i][local_row] = sum;
        }
    }

    // Loads the thread's columns of row r of the state [d, d] that starts at element `at`.
    __device__ void load(const float* state, int64_t at, Columns& to) const {
        Row slice;
        slice.load_unpadded(row_of_state(state, at, r), d, lane);
#pragma unroll
        for (int j = 0; j < columns; ++j) to[j][threadIdx.x] = slice[j];
    }
    __device__ void store(float* state, int64_t at, const Columns& from) const {
        row_of(from).store_unpadded(row_of_state(state, at, r), d, lane);
    }
};

// The first token of the next tile after `first`: chunks are cut into whole groups.
__device__ int64_t next_tile(int64_t first, int64_t chunk) {
    const int64_t end = (first / chunk + 1) * chunk;
    return first + group < end ? first + group : end;
}

__device__ Tokens tile_at(const Arguments& given, int64_t batch, int64_t first) {
    const int64_t next = next_tile(first, given.chunk);
    return {batch, first, next < given.last ? next : given.last};
}

// Grid: 1, strips of rows, batch. Block (0, y, z) owns rows y rows … + rows - 1 of M and S of sequence z for
// all tokens; thread t owns columns of row t / LANES of them, one after another.
//   reads    k, v, q [batch, length, d], gates [batch, length], W [d, 2 d]; m.from, s.from [batch, d, d]
//   writes   y [batch, length, d], the block's columns; m.to, s.to [batch, d, d] and boundaries
//            [batch, boundary_count, d, d], the block's rows
// Rows are zero-padded to `row` numbers, tiles to `group` tokens by tokens that change nothing.
extern "C" __global__ void __launch_bounds__(THREADS) tree(Arguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const int first_row = blockIdx.y * rows;
    const int64_t batch = blockIdx.z, state_at = batch * d * d;
    Tree tree{given, shared, static_cast<int>(threadIdx.x % LANES), static_cast<int>(threadIdx.x / LANES),
              static_cast<int>(first_row + threadIdx.x / LANES)};
    // Tokens and the first state are inputs that no earlier launch writes.
    tree.load(given.m.from, state_at, shared.m);
    tree.load(given.s.from, state_at, shared.s);
    fill_absent_gates(given.gates, shared.staged);
    start_copies(given, tile_at(given, batch, given.first), shared.staged, 0);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    int side = 0;
    for (int64_t first = given.first; first < given.last; first = next_tile(first, given.chunk), side ^= 1) {
        const Tokens tokens = tile_at(given, batch, first);
        device::wait_for_copies();
        // The copies of all threads have arrived, and the previous tile has been scanned and its y stored: it
        // may be overwritten by unpacking.
        device::sync_block();
        unpack(tokens, first_row, shared.staged, side);
        if (device::warp_of_thread() == 0) make_nodes(given, tokens, side, shared);
        device::sync_block();  // tokens and nodes are visible; `raw` is free
        if (const int64_t next = next_tile(first, given.chunk); next < given.last)
            start_copies(given, tile_at(given, batch, next), shared.staged, side ^ 1);
        // A chunk starts: errors use its boundary until the next one.
        if (first % given.chunk == 0) {
            if (given.boundaries)
                tree.store(given.boundaries, (batch * given.boundary_count + first / given.chunk) * d * d,
                           shared.m);
#pragma unroll
            for (int j = 0; j < columns; ++j) shared.boundary[j][threadIdx.x] = shared.m[j][threadIdx.x];
        }
        tree.make_errors(tokens);
        tree.scan(tokens);
        device::sync_block();  // y is visible: it was written by rows and is stored by tokens
        store_y(given, tokens, first_row, 0, shared.staged);
    }
    tree.store(given.m.to, state_at, shared.m);
    tree.store(given.s.to, state_at, shared.s);
    if (given.boundaries)
        tree.store(given.boundaries, ((batch + 1) * given.boundary_count - 1) * d * d, shared.m);
}

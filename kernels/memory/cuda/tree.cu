// associative_scan: (S, M) by a tree scan over matrices (Blelloch), element by element. What tokens do to a
// state is M' = a M + b S + X, S' = h S + Z; first (1) then (2) is
//   a = a2 a1, b = a2 b1 + b2 h1, h = h2 h1, X = a2 X1 + b2 Z1 + X2, Z = h2 Z1 + Z2.
// Totals go up a binary tree over the GROUP tokens of a tile, states come down it; a thread does so for one
// element of the matrices after another, whose totals lie in its registers, and the scalars of the nodes, the
// same for all elements, in shared memory. Errors are frozen at the chunk's boundary.
//
// Defines: those of strip.cuh (GROUP: a power of two), AT_BOUNDARY (where tokens are read).

#include "kernels/memory/strip.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

struct Scalars {
    float a, b, h;
};

struct Shared {
    Staged staged;
    float m[columns][threads], s[columns][threads], boundary[columns][threads];
    float errors[is_windowed ? ring : 1][rows];
    alignas(16)
        float4 nodes[2 * group];  // a, b, h: leaves from `group` on, above node n its children 2 n, 2 n + 1
};

// By one warp; leaves behind the last token leave everything as it is.
__device__ void make_nodes(const device_side::Walk& given, int side, int count, Shared& shared) {
    const int lane = device::lane_of_thread();
    if (lane < group) {
        const Gate gate = lane < count ? gate_of(given.gates, shared.staged, side, lane) : Gate{1, 0, 0};
        shared.nodes[group + lane] = {gate.decay, gate.keep, lane < count ? gate.keep : 1, gate.step};
    }
    for (int width = group / 2; width >= 1; width /= 2) {
        __syncwarp();
        if (lane >= width) continue;
        const float4 one = shared.nodes[2 * (width + lane)], two = shared.nodes[2 * (width + lane) + 1];
        shared.nodes[width + lane] = {two.x * one.x, two.x * one.y + two.y * one.z, two.z * one.z, 0};
    }
}

// The totals of one element of the matrices, or states that come down to it.
struct Elements {
    float x[group], z[group];

    // Slot 2^(level + 1) i + 2^(level + 1) - 1 gets the total of its range; those of left halves stay.
    __device__ void sweep_up(const float4* nodes) {
#pragma unroll
        for (int half = 1; half < group; half *= 2)
#pragma unroll
            for (int right = 2 * half - 1; right < group; right += 2 * half) {
                const float4 second = nodes[(group + right) / half];
                const int left = right - half;
                if (has_momentum) {
                    x[right] += second.x * x[left] + second.y * z[left];
                    z[right] += second.z * z[left];
                } else {
                    x[right] += second.x * x[left];
                }
            }
    }
    // The last slot holds the state before all; every slot gets its own.
    __device__ void sweep_down(const float4* nodes) {
#pragma unroll
        for (int half = group / 2; half >= 1; half /= 2)
#pragma unroll
            for (int right = 2 * half - 1; right < group; right += 2 * half) {
                const int left = right - half;
                const float4 first = nodes[(group + left) / half];
                const float m = x[right], s = z[right];
                x[right] = first.x * m + x[left];
                if (has_momentum) {
                    x[right] += first.y * s;
                    z[right] = first.z * s + z[left];
                }
                x[left] = m;
                z[left] = s;
            }
    }
};

// A row of the boundary's memory times a row in shared memory; all lanes of the row have the sum.
__device__ float read_boundary(const Shared& shared, const float* from, int lane) {
    Row part;
    load_part(from, lane, part);
    float sums[4] = {};
#pragma unroll
    for (int j = 0; j < columns; ++j) sums[j % 4] += shared.boundary[j][threadIdx.x] * part[j];
    return sum_of_row(sums[0] + sums[1] + (sums[2] + sums[3]));
}

__device__ float atlas_error(const device_side::Walk& given, const Staged& staged, int i, int r, int lane) {
    float sum = 0;
    Row keys, values;
    load_part(staged.inputs_of_w[i], lane, keys);
    load_part(staged.inputs_of_w[i] + row, lane, values);
#pragma unroll
    for (int j = 0; j < columns; ++j) {
        const int column = column_of(lane, j);
        if (r >= d || column >= d) continue;
        sum +=
            given.w_omega[r * 2 * d + column] * keys[j] + given.w_omega[r * 2 * d + d + column] * values[j];
    }
    return sum_of_row(sum);
}

struct Tree {
    const device_side::Walk& given;
    Shared& shared;
    int lane, local_row, r;
    float errors[group];

    // Of all tokens of the tile, and of those before it that windows reach.
    __device__ void make_errors(const Tokens& tokens) {
        const Staged& staged = shared.staged;
        if constexpr (is_windowed) {
            const int64_t from = tokens.first - (WINDOW - 1) > 0 ? tokens.first - (WINDOW - 1) : 0;
            for (int64_t token = from; token < tokens.first + tokens.count(); ++token) {
                const int slot = static_cast<int>(token % ring);
                const float e = read_boundary(shared, staged.k[slot], lane) - staged.v[slot][local_row];
                if (lane == 0) shared.errors[slot][local_row] = e;
            }
            __syncwarp();
        } else {
#pragma unroll
            for (int i = 0; i < group; ++i) {
                errors[i] = 0;
                if (i >= tokens.count()) continue;
                const int slot = static_cast<int>((tokens.first + i) % ring);
                if constexpr (reads_memory)
                    errors[i] = read_boundary(shared, staged.k[slot], lane) - staged.v[slot][local_row];
                else if constexpr (rule == Rule::hebbian)
                    errors[i] = -staged.v[slot][local_row];
                else
                    errors[i] = atlas_error(given, staged, i, r, lane);
            }
        }
    }

    // What token i adds to one column.
    __device__ float leaf(const Tokens& tokens, int i, int column) const {
        const Staged& staged = shared.staged;
        if (i >= tokens.count()) return 0;
        const int64_t token = tokens.first + i;
        const float step = shared.nodes[group + i].w;
        if constexpr (is_windowed) {
            float sum = 0;
            for (int64_t source = token - (WINDOW - 1) > 0 ? token - (WINDOW - 1) : 0; source <= token;
                 ++source) {
                const int slot = static_cast<int>(source % ring);
                sum += shared.errors[slot][local_row] * staged.k[slot][column];
            }
            return -step * sum;
        } else {
            return -step * errors[i] * staged.k[token % ring][column];
        }
    }

    // One column over all tokens: its part of y is added.
    __device__ void scan_column(const Tokens& tokens, int j, float (&y)[group]) {
        const int column = column_of(lane, j);
        Elements elements;
        float leaves[group];
#pragma unroll
        for (int i = 0; i < group; ++i) leaves[i] = elements.x[i] = elements.z[i] = leaf(tokens, i, column);
        elements.sweep_up(shared.nodes);
        elements.x[group - 1] = shared.m[j][threadIdx.x];
        elements.z[group - 1] = shared.s[j][threadIdx.x];
        elements.sweep_down(shared.nodes);
        float m = 0, s = 0;
#pragma unroll
        for (int i = 0; i < group; ++i) {
            if (i >= tokens.count()) break;
            const float4 gate = shared.nodes[group + i];
            s = has_momentum ? gate.z * elements.z[i] + leaves[i] : leaves[i];
            m = gate.x * elements.x[i] + s;
            if (!AT_BOUNDARY) y[i] += m * shared.staged.q[i][column];
        }
        shared.m[j][threadIdx.x] = m;
        if (has_momentum) shared.s[j][threadIdx.x] = s;
    }

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

    using Column = float[columns][threads];
    __device__ void load(const float* state, int64_t at, Column& to) const {
        Row part;
        load_state(state, at, r, lane, part);
#pragma unroll
        for (int j = 0; j < columns; ++j) to[j][threadIdx.x] = part[j];
    }
    __device__ void store(float* state, int64_t at, const Column& from) const {
        Row part;
#pragma unroll
        for (int j = 0; j < columns; ++j) part[j] = from[j][threadIdx.x];
        store_state(state, at, r, lane, part);
    }
};

// The tile after the one that starts at `first`: chunks are cut into whole groups.
__device__ int64_t next_tile(int64_t first, int64_t chunk) {
    const int64_t end = (first / chunk + 1) * chunk;
    return first + group < end ? first + group : end;
}

__device__ Tokens tile_at(const device_side::Walk& given, int64_t batch, int64_t first) {
    const int64_t next = next_tile(first, given.chunk);
    return {batch, first, next < given.last ? next : given.last};
}

// Grid: 1, strips of rows, batch.
extern "C" __global__ void __launch_bounds__(threads) tree(device_side::Walk given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int first_row = blockIdx.y * rows;
    const int64_t batch = blockIdx.z, state_at = batch * d * d;
    Tree tree{given, shared, static_cast<int>(threadIdx.x % LANES), static_cast<int>(threadIdx.x / LANES),
              static_cast<int>(first_row + threadIdx.x / LANES)};
    tree.load(given.m_from, state_at, shared.m);
    tree.load(given.s_from, state_at, shared.s);
    start_copies(given, tile_at(given, batch, given.first), shared.staged, 0);
    int side = 0;
    for (int64_t first = given.first; first < given.last; first = next_tile(first, given.chunk), side ^= 1) {
        const Tokens tokens = tile_at(given, batch, first);
        device::wait_for_copies();
        __syncthreads();
        unpack(tokens, first_row, shared.staged, side);
        if (device::warp_of_thread() == 0) make_nodes(given, side, tokens.count(), shared);
        __syncthreads();
        if (const int64_t next = next_tile(first, given.chunk); next < given.last)
            start_copies(given, tile_at(given, batch, next), shared.staged, side ^ 1);
        if (first % given.chunk == 0) {
            if (given.boundaries)
                tree.store(given.boundaries, (batch * given.boundary_count + first / given.chunk) * d * d,
                           shared.m);
#pragma unroll
            for (int j = 0; j < columns; ++j) shared.boundary[j][threadIdx.x] = shared.m[j][threadIdx.x];
        }
        tree.make_errors(tokens);
        tree.scan(tokens);
        __syncthreads();
        store_y(given, tokens, first_row, 0, shared.staged);
    }
    tree.store(given.m_to, state_at, shared.m);
    tree.store(given.s_to, state_at, shared.s);
    if (given.boundaries)
        tree.store(given.boundaries, ((batch + 1) * given.boundary_count - 1) * d * d, shared.m);
}

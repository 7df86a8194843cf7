// The exact rules of a matrix M [d, d], token by token: e = M k - v, S = eta S - theta e k^T,
// M = (1 - alpha) M + S, y = M q, and their kin (RULE). Rows of M never meet: a thread block walks the rows
// of its warps, which lie in registers, past all tokens.
//
// Defines: those of strip.cuh, LOCAL (whether the tokens are cut into local memories).

#include "kernels/memory/strip.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

// The state of a row, and what it is worked on with.
struct Walker {
    int lane;       // of the row
    int local_row;  // of the block
    Row m, s;
    Row w_of_k, w_of_v;  // a row of W: of keys, of values

    // What is added: u of u k^T, without momentum and decay.
    __device__ float right_hand_side(const Staged& shared, const Row& k, int slot, int i, float step,
                                     float& last_y) {
        if constexpr (reads_memory) {
            float e = dot(m, k);
            // Two sums that do not wait for each other: that of y is of the token before.
            e = sum_of_row(e);
            last_y = sum_of_row(last_y);
            return -step * (e - shared.v[slot][local_row]);
        } else {
            last_y = sum_of_row(last_y);
            if constexpr (rule == Rule::hebbian) {
                return shared.v[slot][local_row];
            } else {
                Row input;
                load_part(shared.inputs_of_w[i], lane, input);
                float w = dot(w_of_k, input);
                load_part(shared.inputs_of_w[i] + row, lane, input);
                w += dot(w_of_v, input);
                return -step * sum_of_row(w);
            }
        }
    }

    // S = keep S - step times the sum of e_i k_i^T over the window that ends at this token.
    __device__ void add_window(const Staged& shared, int64_t token, const Gate& gate) {
#pragma unroll
        for (int j = 0; j < columns; ++j) s[j] *= gate.keep;
        for (int64_t i = token - (WINDOW - 1) > 0 ? token - (WINDOW - 1) : 0; i <= token; ++i) {
            const int slot = static_cast<int>(i % ring);
            Row k;
            load_part(shared.k[slot], lane, k);
            const float u = -gate.step * (sum_of_row(dot(m, k)) - shared.v[slot][local_row]);
#pragma unroll
            for (int j = 0; j < columns; ++j) s[j] += u * k[j];
        }
    }

    // Gives this token's part of y, takes that of the one before and gives its sum.
    __device__ float step(const Staged& shared, int64_t token, int i, const Gate& gate, float& last_y) {
        const int slot = static_cast<int>(token % ring);
        Row k, q;
        load_part(shared.k[slot], lane, k);
        load_part(shared.q[i], lane, q);
        if constexpr (is_windowed) {
            last_y = sum_of_row(last_y);
            add_window(shared, token, gate);
#pragma unroll
            for (int j = 0; j < columns; ++j) m[j] = gate.decay * m[j] + s[j];
        } else {
            const float u = right_hand_side(shared, k, slot, i, gate.step, last_y);
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                if constexpr (has_momentum) {
                    s[j] = gate.keep * s[j] + u * k[j];
                    m[j] = gate.decay * m[j] + s[j];
                } else {
                    m[j] = gate.decay * m[j] + u * k[j];
                }
            }
        }
        return dot(m, q);
    }
};

// Grid: local memories (1 without), strips of rows, batch.
extern "C" __global__ void __launch_bounds__(threads) walk(device_side::Walk given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Staged& shared = *reinterpret_cast<Staged*>(memory);
    const int first_row = blockIdx.y * rows;
    const int64_t batch = blockIdx.z, state_at = batch * d * d;
    if constexpr (LOCAL) {
        given.first += blockIdx.x * given.local_tokens;
        given.last =
            given.last < given.first + given.local_tokens ? given.last : given.first + given.local_tokens;
    }
    const int64_t from = given.first - (WINDOW - 1) > 0 ? given.first - (WINDOW - 1) : 0;

    Walker walker;
    walker.lane = threadIdx.x % LANES;
    walker.local_row = threadIdx.x / LANES;
    const int r = first_row + walker.local_row;
    // Tokens do not depend on the launch before, the state does.
    start_copies(given, {batch, from, given.last}, shared, 0);
    if constexpr (rule == Rule::atlas) {
#pragma unroll
        for (int j = 0; j < columns; ++j) {
            const int column = column_of(walker.lane, j);
            const bool there = r < d && column < d;
            walker.w_of_k[j] = there ? given.w_omega[r * 2 * d + column] : 0;
            walker.w_of_v[j] = there ? given.w_omega[r * 2 * d + d + column] : 0;
        }
    }
    device::wait_for_launches_before();
    device::let_next_launch_start();
    load_state(given.m_from, state_at, r, walker.lane, walker.m);
    if constexpr (has_momentum)
        load_state(LOCAL ? nullptr : given.s_from, state_at, r, walker.lane, walker.s);

    float sum = 0;
    int side = 0;
    for (int64_t first = from; first < given.last; first += group, side ^= 1) {
        const Tokens tokens{batch, first, given.last};
        device::wait_for_copies();
        __syncthreads();
        unpack(tokens, first_row, shared, side);
        __syncthreads();
        if (first + group < given.last)
            start_copies(given, {batch, first + group, given.last}, shared, side ^ 1);
        const int skipped = static_cast<int>(given.first > first ? given.first - first : 0);
        float y = 0;
        const auto keep_y = [&](int i) {
            if (walker.lane != 0) return;
            shared.y[i][walker.local_row] = y;
            sum += y;
        };
#pragma unroll 2
        for (int i = skipped; i < tokens.count(); ++i) {
            if (given.boundaries && (first + i) % given.chunk == 0)
                store_state(given.boundaries,
                            (batch * given.boundary_count + (first + i) / given.chunk) * d * d, r,
                            walker.lane, walker.m);
            const float part = walker.step(shared, first + i, i, gate_of(given.gates, shared, side, i), y);
            if (i > skipped) keep_y(i - 1);
            y = part;
        }
        y = sum_of_row(y);
        if (tokens.count() > skipped) keep_y(tokens.count() - 1);
        __syncthreads();
        store_y(given, tokens, first_row, skipped, shared);
    }
    if constexpr (LOCAL) {
        if (walker.lane == 0 && r < d) given.sums[(batch * gridDim.x + blockIdx.x) * d + r] = sum;
        return;
    }
    store_state(given.m_to, state_at, r, walker.lane, walker.m);
    if constexpr (has_momentum) store_state(given.s_to, state_at, r, walker.lane, walker.s);
    if (given.boundaries && given.last == given.length)
        store_state(given.boundaries, ((batch + 1) * given.boundary_count - 1) * d * d, r, walker.lane,
                    walker.m);
}

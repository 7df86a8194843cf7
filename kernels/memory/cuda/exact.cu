// The exact rules of a matrix M [d, d], token by token: e = M k - v, S = eta S - theta e k^T,
// M = (1 - alpha) M + S, y = M q, and their variations. Rows of M are independent: a thread block keeps the
// rows of its strip in registers and walks them over all tokens.
//
// A group of GROUP tokens takes three barriers:
//   wait for the copies | unpack them | start the next copies, walk over the group | store its y
// The sum of y over the lanes of a row is delayed to the next token, where it overlaps with the sum of e.
//
// The delta rule with d = 1, alpha = 0, theta = 0.5, k = q = 1 and v = 4 from M = 0: e = -4, M = 2, y = 2;
// then e = -2, M = 3, y = 3; and so on towards 4.
//
// Defines: those of strip.cuh, LOCAL (whether the tokens are cut into local memories).

#include "kernels/cuda/device/sync.cuh"
#include "kernels/memory/cuda/strip.cuh"

using namespace sawtooth;
using namespace sawtooth::memory;

static_assert(sizeof(Staged) == SHARED_BYTES, "the host counts the same bytes");

// The windows of a local memory begin with its tokens.
constexpr bool has_own_windows = LOCAL && IS_WINDOWED;

// The first token in the window that ends at `token`.
__device__ int64_t first_in_window(const Arguments& given, int64_t batch, int64_t token) {
    const int64_t first = first_of_window(given, batch, token);
    if constexpr (has_own_windows)
        return first > given.first ? first : given.first;
    else
        return first;
}

// One row of the state, of which each lane holds a slice in registers.
struct Walker {
    int lane;       // lane of the row
    int local_row;  // row of the block
    Row m, s;
    Row w_of_k, w_of_v;  // a row of W [d, 2 d]: its keys' half, its values' half

    // Returns u of the update u k^T, before momentum and decay. Also sums `last_y` over the row.
    __device__ float right_hand_side(const Staged& shared, const Row& k, int slot, int i, float step,
                                     float& last_y) {
        if constexpr (READS_MEMORY) {
            float e = m.dot(k);
            // The two sums are independent, because y belongs to the previous token.
            e = sum_of_row(e);
            last_y = sum_of_row(last_y);
            return -step * (e - shared.v[slot][local_row]);
        } else {
            last_y = sum_of_row(last_y);
            if constexpr (!READS_W_OMEGA) {
                return shared.v[slot][local_row];
            } else {
                // Both halves of a row of W take part in w = W silu([k; v]).
                Row input;
                input.load(shared.inputs_of_w[i], lane);
                float w = w_of_k.dot(input);
                input.load(shared.inputs_of_w[i] + row, lane);
                w += w_of_v.dot(input);
                return -step * sum_of_row(w);
            }
        }
    }

    // S = keep S - step times the sum of e_i k_i^T over the window that ends at this token.
    __device__ void add_window(const Arguments& given, const Staged& shared, int64_t batch, int64_t token,
                               const Gate& gate) {
        s.scale(gate.keep);
        for (int64_t i = first_in_window(given, batch, token); i <= token; ++i) {
            const int slot = static_cast<int>(i % ring);
            Row k;
            k.load(shared.k[slot], lane);
            const float u = -gate.step * (sum_of_row(m.dot(k)) - shared.v[slot][local_row]);
#pragma unroll
            for (int j = 0; j < columns; ++j) s[j] += u * k[j];
        }
    }

    // Returns this lane's partial sum of y, and replaces `last_y`, that of the previous token, by the sum
    // over the row.
    __device__ float step(const Arguments& given, const Staged& shared, int64_t batch, int64_t token, int i,
                          const Gate& gate, float& last_y) {
        const int slot = static_cast<int>(token % ring);
        Row k, q;
        k.load(shared.k[slot], lane);
        q.load(shared.q[i], lane);
        if constexpr (IS_WINDOWED) {
            last_y = sum_of_row(last_y);
            add_window(given, shared, batch, token, gate);
#pragma unroll
            for (int j = 0; j < columns; ++j) m[j] = gate.decay * m[j] + s[j];
        } else {
            const float u = right_hand_side(shared, k, slot, i, gate.step, last_y);
#pragma unroll
            for (int j = 0; j < columns; ++j) {
                if constexpr (HAS_MOMENTUM) {
                    s[j] = gate.keep * s[j] + u * k[j];
                    m[j] = gate.decay * m[j] + s[j];
                } else {
                    m[j] = gate.decay * m[j] + u * k[j];
                }
            }
        }
        return m.dot(q);
    }
};

// Grid: local memories (1 without), strips of rows, batch. Block (x, y, z) owns tokens
// first + x local_tokens … of sequence z and rows y rows … + rows - 1 of M; thread t owns row t / LANES of
// them.
//   reads    k, v, q [batch, length, d], gates [batch, length], W [d, 2 d]; m.from, s.from [batch, d, d]
//   writes   y [batch, length, d], the block's columns of its tokens; m.to, s.to [batch, d, d] and boundaries
//            [batch, boundary_count, d, d], the block's rows; if LOCAL only sums [batch, locals, d]
// Rows are zero-padded to `row` numbers in registers and shared memory; rows from d on do not exist.
extern "C" __global__ void __launch_bounds__(THREADS) exact(Arguments given) {
    extern __shared__ __align__(16) unsigned char memory[];
    Staged& shared = *reinterpret_cast<Staged*>(memory);
    const int first_row = blockIdx.y * rows;
    const int64_t batch = blockIdx.z, state_at = batch * d * d;
    if constexpr (LOCAL) {
        given.first += blockIdx.x * given.local_tokens;
        given.last =
            given.last < given.first + given.local_tokens ? given.last : given.first + given.local_tokens;
    }
    // A window reaches back to tokens of an earlier launch.
    const int64_t from = has_own_windows ? given.first : first_of_window(given.first);

    Walker walker;
    walker.lane = threadIdx.x % LANES;
    walker.local_row = threadIdx.x / LANES;
    const int r = first_row + walker.local_row;
    // Tokens and W are inputs that no earlier launch writes; the state may be written by one.
    fill_absent_gates(given.gates, shared);
    start_copies(given, {batch, from, given.last}, shared, 0);
    if constexpr (READS_W_OMEGA) {
        const float* const w = r < d ? given.w_omega + r * 2 * d : nullptr;
        walker.w_of_k.load_unpadded(w, d, walker.lane);
        walker.w_of_v.load_unpadded(w ? w + d : nullptr, d, walker.lane);
    }
    device::wait_for_launches_before();
    device::let_next_launch_start();
    walker.m.load_unpadded(row_of_state(given.m.from, state_at, r), d, walker.lane);
    if constexpr (HAS_MOMENTUM)
        walker.s.load_unpadded(LOCAL ? nullptr : row_of_state(given.s.from, state_at, r), d, walker.lane);

    float sum = 0;
    int side = 0;
    for (int64_t first = from; first < given.last; first += group, side ^= 1) {
        const Tokens tokens{batch, first, given.last};
        device::wait_for_copies();
        // The copies of all threads have arrived, and the previous group has been walked and its y stored:
        // it may be overwritten by unpacking.
        device::sync_block();
        unpack(tokens, first_row, shared, side);
        device::sync_block();  // the group is unpacked; `raw` of both sides is free
        if (first + group < given.last)
            start_copies(given, {batch, first + group, given.last}, shared, side ^ 1);
        // The number of tokens of the group that only windows reach.
        const int skipped = static_cast<int>(given.first > first ? given.first - first : 0);
        // The previous token's partial sum of y, not yet summed over the row.
        float y = 0;
        const auto keep_y = [&](int i) {
            if (walker.lane != 0) return;
            shared.y[i][walker.local_row] = y;
            sum += y;
        };
#pragma unroll 2
        for (int i = skipped; i < tokens.count(); ++i) {
            // Stores the memory before the first token of a chunk.
            if (given.boundaries && (first + i) % given.chunk == 0)
                walker.m.store_unpadded(
                    row_of_state(given.boundaries,
                                 (batch * given.boundary_count + (first + i) / given.chunk) * d * d, r),
                    d, walker.lane);
            const float partial =
                walker.step(given, shared, batch, first + i, i, gate_of(given, tokens, shared, side, i), y);
            if (i > skipped) keep_y(i - 1);
            y = partial;
        }
        y = sum_of_row(y);
        if (tokens.count() > skipped) keep_y(tokens.count() - 1);
        device::sync_block();  // y is visible: it was written by rows and is stored by tokens
        store_y(given, tokens, first_row, skipped, shared);
    }
    // Local memories are discarded: only the sums of y are used later (tnt_step.cu).
    if constexpr (LOCAL) {
        if (walker.lane == 0 && r < d) given.sums[(batch * gridDim.x + blockIdx.x) * d + r] = sum;
        return;
    }
    walker.m.store_unpadded(row_of_state(given.m.to, state_at, r), d, walker.lane);
    if constexpr (HAS_MOMENTUM)
        walker.s.store_unpadded(row_of_state(given.s.to, state_at, r), d, walker.lane);
    if (given.boundaries && given.last == given.length)
        walker.m.store_unpadded(
            row_of_state(given.boundaries, ((batch + 1) * given.boundary_count - 1) * d * d, r), d,
            walker.lane);
}

// The recurrence token by token: a step function of state, gate and input. A state is v, the sum since the
// start of the block, and z = (a_0 … a_i) c, what the carry c into the block has become; x = v + z.
//
// Gates 1/2 and u = 1, with BL = 2 for short, order two:
//
//   token    0     1  |    2      3  |    4      5
//   v        1    1.5 |    1    1.5  |    1    1.5
//   z        0     0  |  .75   .375  |  .75   .375     a block starts with z = a_0 c, c = the last v
//   x        1    1.5 | 1.75  1.875  | 1.75  1.875
//
// Defines: STORAGE, OUT_STORAGE (of x), BLOCK, ORDER (one, two, full), CARRY0 (whether the first block
// receives a carry), SHARED_GATES (whether the batch shares its gates), THREADS.

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/cuda/device/words.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

using Storage = device::STORAGE;
using OutStorage = device::OUT_STORAGE;
enum class Order { one, two, full };
constexpr Order order = Order::ORDER;

struct State {
    float v, z;

    __device__ float x() const { return v + z; }
};

// Returns the carry into the block that follows a state.
__device__ float carry_after(State state) {
    return order == Order::one ? 0 : order == Order::two ? state.v : state.x();
}
__device__ State step(State state, float gate, float u) {
    return {fmaf(gate, state.v, u), order == Order::one ? 0 : gate * state.z};
}
// Takes the step into a block: only the carry passes its first gate.
__device__ State enter(float carry, float gate, float u) {
    return {u, order == Order::one ? 0 : gate * carry};
}

using Given = ArgumentsOf<CARRY0 || SHARED_GATES>::Type;

__device__ int64_t row_of_gates(const Arguments&, int64_t head) { return head; }
__device__ int64_t row_of_gates(const MoreArguments& given, int64_t head) {
    return SHARED_GATES ? head % given.gate_rows : head;
}
// Returns the carry into the first block.
__device__ float first_carry(const Arguments&, int64_t) { return 0; }
__device__ float first_carry(const MoreArguments& given, int64_t row) {
    return CARRY0 ? given.carry0[row] : 0;
}

// Moves a row by one token: reads a and u, and writes x, and the carry where a block starts.
__device__ State move(const Given& given, int64_t row, int64_t token, State state) {
    const int64_t head = row / given.all.width, at = row * given.all.length + token;
    const float gate = Storage::widen(
        static_cast<const Storage::Word*>(given.a)[row_of_gates(given, head) * given.all.length + token]);
    const float u = Storage::widen(static_cast<const Storage::Word*>(given.u)[at]);
    if (token % BLOCK == 0) {
        const float carry = token == 0 ? first_carry(given, row) : carry_after(state);
        const int64_t blocks = (given.all.length + BLOCK - 1) / BLOCK;
        given.carry[(head * blocks + token / BLOCK) * given.all.width + row % given.all.width] = carry;
        state = enter(carry, gate, u);
    } else {
        state = step(state, gate, u);
    }
    static_cast<OutStorage::Word*>(given.x)[at] = OutStorage::narrow(state.x());
    return state;
}

__device__ int64_t row_of_thread() { return int64_t{blockIdx.x} * THREADS + threadIdx.x; }

// Grid of both kernels: ceil(B H DH / THREADS). A thread owns row r of B H DH, one channel of a head:
//
//   a [B H, L]        row r / DH: all threads of a head read the same gate (SHARED_GATES: [H, L])
//   u, x [B H, DH, L] row r: the threads of a warp read and write at a distance of L numbers
//   carry             [B H, blocks, DH], one number where a block starts
//
// Threads share nothing, and there are no barriers. `token` moves the row of a thread by one token, and keeps
// v and z in state [B H DH, 2] for the next launch.
extern "C" __global__ void __launch_bounds__(THREADS) token(Given given) {
    const int64_t row = row_of_thread();
    if (row >= given.all.heads * given.all.width) return;
    float2& state = reinterpret_cast<float2*>(given.state)[row];
    const float2 before = given.token == 0 ? float2{0, 0} : state;
    const State after = move(given, row, given.token, {before.x, before.y});
    state = {after.v, after.z};
}

// Moves the row of a thread through all tokens, with v and z in registers.
extern "C" __global__ void __launch_bounds__(THREADS) decode(Given given) {
    const int64_t row = row_of_thread();
    if (row >= given.all.heads * given.all.width) return;
    State state = {0, 0};
    for (int64_t t = 0; t < given.all.length; ++t) state = move(given, row, t, state);
}

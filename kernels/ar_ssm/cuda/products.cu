// A product of `unfused`: the STEP, which is also the name of the kernel. A thread block computes
// 128 tokens x COLUMNS columns. Each step is compiled alone: together they take seconds.
//
//   STEP                  left [tokens, inner]   right        result [tokens, columns], from the product p
//   hidden                x                      gate_w1^T    hidden_units = relu(p + gate_b1)
//   gates                 hidden_units           gate_w2^T    gates = sigmoid(p + gate_b2), HARD: 1 or 0
//   project_u             x                      u_proj^T     u = p gates; BACKWARD: projected_u = p
//   project_v             x                      v_proj^T     v = p gates; BACKWARD: projected_v = p
//   project_out           w                      out_proj^T   uv = p + out_bias
//   reverse_project_out   w_rev                  out_proj^T   uv_rev = p + out_bias
//   w_gradient            dy                     out_proj     dw = scale p
//   hidden_gradient       dlogits                gate_w2      dhidden = p where hidden_units > 0, else 0
//   x_gradient_gate_w1    dhidden                gate_w1      dx += p
//   x_gradient_u_proj     dprojected_u           u_proj       dx += p
//   x_gradient_v_proj     dprojected_v           v_proj       dx += p
//
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, HARD, BACKWARD, DEPTH, COLUMNS, STEP.

#include "kernels/ar_ssm/cuda/gate_gradients.cuh"
#include "kernels/ar_ssm/cuda/gates.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

enum class Step {
    hidden,
    gates,
    project_u,
    project_v,
    project_out,
    reverse_project_out,
    w_gradient,
    hidden_gradient,
    x_gradient_gate_w1,
    x_gradient_u_proj,
    x_gradient_v_proj,
};

constexpr int rows = 128;
// With the weights as [columns, inner], and as [inner, columns].
using Forward = Product<rows, COLUMNS, DEPTH, 4, 2, Lies::in_rows, Lies::in_columns>;
using Backward = Product<rows, COLUMNS, DEPTH, 4, 2, Lies::in_rows, Lies::in_rows>;
static_assert(SHARED_BYTES >= static_cast<int>(sizeof(Forward::Shared)) &&
              SHARED_BYTES >= static_cast<int>(sizeof(Backward::Shared)));

// The first token and column of the thread block.
struct Corner {
    int64_t token = int64_t{blockIdx.x} * rows, column = int64_t{blockIdx.y} * COLUMNS;
};

template <class Product>
__device__ typename Product::Shared& shared() {
    extern __shared__ uint4 shared_words[];
    return *reinterpret_cast<typename Product::Shared*>(shared_words);
}

__device__ int64_t tokens_of(const Layer& of) { return of.batch * of.length; }

// left [tokens, inner] * weights^T [inner, columns].
__device__ Forward::Sums multiply(const Layer& of, const void* left, int64_t inner, const void* weights,
                                  int64_t columns) {
    const Corner at;
    Forward::Sums sums;
    Forward::clear(sums);
    Forward::add(shared<Forward>(), inner, sums, [&](Forward::Stage& stage, int64_t k) {
        copy_part<rows, DEPTH>(stage.left, Forward::left_stride, {left, tokens_of(of), inner}, at.token, k);
        copy_part<COLUMNS, DEPTH>(stage.right, Forward::right_stride, {weights, columns, inner}, at.column,
                                  k);
    });
    return sums;
}

// sums += left [tokens, inner] * weights [inner, columns].
__device__ void add_product(const Layer& of, const void* left, int64_t inner, const void* weights,
                            int64_t columns, Backward::Sums& sums) {
    const Corner at;
    Backward::add(shared<Backward>(), inner, sums, [&](Backward::Stage& stage, int64_t k) {
        copy_part<rows, DEPTH>(stage.left, Backward::left_stride, {left, tokens_of(of), inner}, at.token, k);
        copy_part<DEPTH, COLUMNS>(stage.right, Backward::right_stride, {weights, inner, columns}, k,
                                  at.column);
    });
}

// Returns a test of a row and a column of the sums: true if the result has them.
__device__ auto is_there(const Layer& of, int64_t columns) {
    const Corner at;
    return [=, tokens = tokens_of(of)](int row, int column) {
        return at.token + row < tokens && at.column + column < columns;
    };
}

// Calls visit(first, second, token, column) for pairs of neighbours of tokens that are there.
template <class Product, class Visit>
__device__ void for_each_pair(const Layer& of, typename Product::Sums& sums, Visit visit) {
    const Corner at;
    Product::for_each_pair(sums, [&](float first, float second, int row, int column) {
        if (at.token + row < tokens_of(of)) visit(first, second, at.token + row, at.column + column);
    });
}

__device__ void find_hidden_units(const Layer& of) {
    const Corner at;
    Forward::Sums sums = multiply(of, of.x, of.width, of.gate_w1, of.hidden);
    Forward::for_each(sums, [&](float& value, int, int column) {
        if (at.column + column < of.hidden) value += element(of.gate_b1, at.column + column);
    });
    settle_units<Forward>(of, sums, at.token, at.column, is_there(of, of.hidden));
    for_each_pair<Forward>(of, sums, [&](float first, float second, int64_t token, int64_t unit) {
        store_units(of, token, unit, relu(first), relu(second));
    });
}

__device__ void find_gates(const Layer& of) {
    const Corner at;
    Forward::Sums sums;
    Forward::clear(sums);
    add_logits<Forward>(of, shared<Forward>(), at.token, tokens_of(of), at.column, sums);
    const auto there = is_there(of, of.rank);
    Forward::for_each(sums, [&](float& logit, int, int column) {
        if (at.column + column < of.rank) logit += element(of.gate_b2, at.column + column);
    });
    settle_logits<Forward>(of, sums, at.token, at.column, there);
    Forward::for_each(sums, [&](float logit, int row, int column) {
        if (there(row, column)) store_gate(of, at.token + row, at.column + column, logit);
    });
}

__device__ void project(const Layer& of, const void* weights, void* projected, void* gated) {
    const Corner at;
    Forward::Sums gates = Forward::loaded(is_there(of, of.rank), [&](int row, int column) {
        return of.gates[(at.token + row) * of.rank + at.column + column];
    });
    Forward::Sums sums = multiply(of, of.x, of.width, weights, of.rank);
    const auto store = [&](void* to) {
        for_each_pair<Forward>(of, sums, [&](float first, float second, int64_t token, int64_t rank) {
            store_pair<Storage>(to, token, of.rank, rank, first, second);
        });
    };
    if constexpr (BACKWARD) store(projected);
    Forward::join(sums, gates, [](float& projection, float gate) { projection *= gate; });
    store(gated);
}

__device__ void project_scanned(const Layer& of, const void* w, void* uv) {
    Forward::Sums sums = multiply(of, w, of.rank, of.out_proj, of.width);
    for_each_pair<Forward>(of, sums, [&](float first, float second, int64_t token, int64_t channel) {
        const auto bias = [&](int64_t d) { return d < of.width ? element(of.out_bias, d) : 0; };
        store_pair<Storage>(uv, token, of.width, channel, first + bias(channel), second + bias(channel + 1));
    });
}

__device__ void find_w_gradient(const Layer& of) {
    Backward::Sums sums;
    Backward::clear(sums);
    add_product(of, of.dy, of.width, of.out_proj, of.rank, sums);
    for_each_pair<Backward>(of, sums, [&](float first, float second, int64_t token, int64_t rank) {
        store_pair<device::f32>(of.dw, token, of.rank, rank, of.scale * first, of.scale * second);
    });
}

__device__ void find_hidden_gradient(const Layer& of) {
    const Corner at;
    Backward::Sums units = load_units<Backward>(of, at.token, at.column, is_there(of, of.hidden)), sums;
    Backward::clear(sums);
    add_product(of, of.dlogits, of.rank, of.gate_w2, of.hidden, sums);
    differentiate_relu<Backward>(sums, units);
    for_each_pair<Backward>(of, sums, [&](float first, float second, int64_t token, int64_t unit) {
        store_pair<Storage>(of.dhidden, token, of.hidden, unit, first, second);
    });
}

// dx += left W. The sums start from dx, which already has the gradient through the convolution.
__device__ void add_x_gradient(const Layer& of, const void* left, int64_t inner, const void* weights) {
    const Corner at;
    Backward::Sums sums = Backward::loaded(is_there(of, of.width), [&](int row, int column) {
        return of.dx[(at.token + row) * of.width + at.column + column];
    });
    add_product(of, left, inner, weights, of.width, sums);
    for_each_pair<Backward>(of, sums, [&](float first, float second, int64_t token, int64_t channel) {
        store_pair<device::f32>(of.dx, token, of.width, channel, first, second);
    });
}

// Grid: ceil(tokens / 128), ceil(columns / COLUMNS). Tokens of all sequences are rows of one matrix:
//
//                 columns y COLUMNS …
//   tokens        | warp 0 | warp 1 |     4 warps down, 2 across; a warp owns 32 rows x COLUMNS / 2 columns
//   128 x …       | warp 2 | warp 3 |
//                 | warp 4 | warp 5 |
//                 | warp 6 | warp 7 |
//
// All barriers are those of Product::add.
extern "C" __global__ void __launch_bounds__(THREADS) STEP(const __grid_constant__ Layer of) {
    constexpr Step step = Step::STEP;
    if constexpr (step == Step::hidden) find_hidden_units(of);
    if constexpr (step == Step::gates) find_gates(of);
    if constexpr (step == Step::project_u) project(of, of.u_proj, of.projected_u, of.u);
    if constexpr (step == Step::project_v) project(of, of.v_proj, of.projected_v, of.v);
    if constexpr (step == Step::project_out) project_scanned(of, of.w, of.uv);
    if constexpr (step == Step::reverse_project_out) project_scanned(of, of.w_rev, of.uv_rev);
    if constexpr (step == Step::w_gradient) find_w_gradient(of);
    if constexpr (step == Step::hidden_gradient) find_hidden_gradient(of);
    if constexpr (step == Step::x_gradient_gate_w1) add_x_gradient(of, of.dhidden, of.hidden, of.gate_w1);
    if constexpr (step == Step::x_gradient_u_proj) add_x_gradient(of, of.dprojected_u, of.rank, of.u_proj);
    if constexpr (step == Step::x_gradient_v_proj) add_x_gradient(of, of.dprojected_v, of.rank, of.v_proj);
}

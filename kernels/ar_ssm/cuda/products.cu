// One product of the variant unfused: the macro STEP selects it and names the kernel. A thread block computes
// 128 tokens x COLUMNS columns. Each step is compiled alone, because all of them together take seconds.
//
//   STEP                  left [tokens, inner]   right        result [tokens, columns], from the product p
//   hidden                x                      gate_w1^T    hidden_units = relu(p + gate_b1)
//   gates                 hidden_units           gate_w2^T    gates = sigmoid(p + gate_b2);
//                                                             HARD: 1 or 0; GUMBEL: with noise
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
// Defines: THREADS, SHARED_BYTES, STORAGE, ALIGNED, HARD, GUMBEL, BACKWARD, DEPTH, COLUMNS, STEP.

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
// Forward takes weights [columns, inner], Backward takes them as [inner, columns].
using Forward = Product<rows, COLUMNS, DEPTH, 4, 2, Lies::in_rows, Lies::in_columns, true>;
using Backward = Product<rows, COLUMNS, DEPTH, 4, 2, Lies::in_rows, Lies::in_rows, true>;
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

__device__ int64_t tokens_of(const Layer& layer) { return layer.batch * layer.length; }

// left [tokens, inner] * weights^T [inner, columns].
__device__ Forward::Sums multiply(const Layer& layer, const void* left, int64_t inner, const void* weights,
                                  int64_t columns) {
    const Corner at;
    Forward::Sums sums;
    Forward::clear(sums);
    Forward::add(shared<Forward>(), inner, sums, [&](Forward::Stage& stage, int64_t k) {
        copy_tile<rows, DEPTH>(stage.left, Forward::left_stride, {left, tokens_of(layer), inner}, at.token,
                               k);
        copy_tile<COLUMNS, DEPTH>(stage.right, Forward::right_stride, {weights, columns, inner}, at.column,
                                  k);
    });
    return sums;
}

// sums += left [tokens, inner] * weights [inner, columns].
__device__ void add_product(const Layer& layer, const void* left, int64_t inner, const void* weights,
                            int64_t columns, Backward::Sums& sums) {
    const Corner at;
    Backward::add(shared<Backward>(), inner, sums, [&](Backward::Stage& stage, int64_t k) {
        copy_tile<rows, DEPTH>(stage.left, Backward::left_stride, {left, tokens_of(layer), inner}, at.token,
                               k);
        copy_tile<DEPTH, COLUMNS>(stage.right, Backward::right_stride, {weights, inner, columns}, k,
                                  at.column);
    });
}

// Returns a predicate of a row and a column of the sums, which is true if the result has such an element.
__device__ auto is_there(const Layer& layer, int64_t columns) {
    const Corner at;
    return [=, tokens = tokens_of(layer)](int row, int column) {
        return at.token + row < tokens && at.column + column < columns;
    };
}

// Calls visit(first, second, token, column) for the pairs of neighbouring columns of the tokens that exist.
template <class Product, class Visit>
__device__ void for_each_pair(const Layer& layer, typename Product::Sums& sums, Visit visit) {
    const Corner at;
    Product::for_each_pair(sums, [&](float first, float second, int row, int column) {
        if (at.token + row < tokens_of(layer)) visit(first, second, at.token + row, at.column + column);
    });
}

__device__ void find_hidden_units(const Layer& layer) {
    const Corner at;
    Forward::Sums sums = multiply(layer, layer.x, layer.width, layer.gate_w1, layer.hidden);
    Forward::for_each(sums, [&](float& value, int, int column) {
        if (at.column + column < layer.hidden) value += element(layer.gate_b1, at.column + column);
    });
    settle_units<Forward>(layer, sums, at.token, at.column, is_there(layer, layer.hidden));
    for_each_pair<Forward>(layer, sums, [&](float first, float second, int64_t token, int64_t unit) {
        store_units(layer, token, unit, relu(first), relu(second));
    });
}

__device__ void find_gates(const Layer& layer) {
    const Corner at;
    Forward::Sums sums;
    Forward::clear(sums);
    add_logits<Forward>(layer, shared<Forward>(), at.token, tokens_of(layer), at.column, sums);
    const auto there = is_there(layer, layer.rank);
    Forward::for_each(sums, [&](float& logit, int, int column) {
        if (at.column + column < layer.rank) logit += element(layer.gate_b2, at.column + column);
    });
    settle_logits<Forward>(layer, sums, at.token, at.column, there);
    Forward::for_each(sums, [&](float logit, int row, int column) {
        if (there(row, column)) store_gate(layer, at.token + row, at.column + column, logit);
    });
}

__device__ void project(const Layer& layer, const void* weights, void* projected, void* gated) {
    const Corner at;
    Forward::Sums gates = Forward::loaded(is_there(layer, layer.rank), [&](int row, int column) {
        return layer.gates[(at.token + row) * layer.rank + at.column + column];
    });
    Forward::Sums sums = multiply(layer, layer.x, layer.width, weights, layer.rank);
    const auto store = [&](void* to) {
        for_each_pair<Forward>(layer, sums, [&](float first, float second, int64_t token, int64_t rank) {
            store_pair<Storage>(to, token, layer.rank, rank, first, second);
        });
    };
    if constexpr (BACKWARD) store(projected);
    Forward::join(sums, gates, [](float& projection, float gate) { projection *= gate; });
    store(gated);
}

__device__ void project_scanned(const Layer& layer, const void* w, void* uv) {
    Forward::Sums sums = multiply(layer, w, layer.rank, layer.out_proj, layer.width);
    for_each_pair<Forward>(layer, sums, [&](float first, float second, int64_t token, int64_t channel) {
        const auto bias = [&](int64_t d) { return d < layer.width ? element(layer.out_bias, d) : 0; };
        store_pair<Storage>(uv, token, layer.width, channel, first + bias(channel),
                            second + bias(channel + 1));
    });
}

__device__ void find_w_gradient(const Layer& layer) {
    Backward::Sums sums;
    Backward::clear(sums);
    add_product(layer, layer.dy, layer.width, layer.out_proj, layer.rank, sums);
    for_each_pair<Backward>(layer, sums, [&](float first, float second, int64_t token, int64_t rank) {
        store_pair<device::f32>(layer.dw, token, layer.rank, rank, layer.scale * first, layer.scale * second);
    });
}

__device__ void find_hidden_gradient(const Layer& layer) {
    const Corner at;
    Backward::Sums units = load_units<Backward>(layer, at.token, at.column, is_there(layer, layer.hidden)),
                   sums;
    Backward::clear(sums);
    add_product(layer, layer.dlogits, layer.rank, layer.gate_w2, layer.hidden, sums);
    differentiate_relu<Backward>(sums, units);
    for_each_pair<Backward>(layer, sums, [&](float first, float second, int64_t token, int64_t unit) {
        store_pair<Storage>(layer.dhidden, token, layer.hidden, unit, first, second);
    });
}

// dx += left W. The sums start from dx, which already has the gradient through the convolution.
__device__ void add_x_gradient(const Layer& layer, const void* left, int64_t inner, const void* weights) {
    const Corner at;
    Backward::Sums sums = Backward::loaded(is_there(layer, layer.width), [&](int row, int column) {
        return layer.dx[(at.token + row) * layer.width + at.column + column];
    });
    add_product(layer, left, inner, weights, layer.width, sums);
    for_each_pair<Backward>(layer, sums, [&](float first, float second, int64_t token, int64_t channel) {
        store_pair<device::f32>(layer.dx, token, layer.width, channel, first, second);
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
// The only barriers are those of Product::add.
extern "C" __global__ void __launch_bounds__(THREADS) STEP(const __grid_constant__ Layer layer) {
    constexpr Step step = Step::STEP;
    if constexpr (step == Step::hidden) find_hidden_units(layer);
    if constexpr (step == Step::gates) find_gates(layer);
    if constexpr (step == Step::project_u) project(layer, layer.u_proj, layer.projected_u, layer.u);
    if constexpr (step == Step::project_v) project(layer, layer.v_proj, layer.projected_v, layer.v);
    if constexpr (step == Step::project_out) project_scanned(layer, layer.w, layer.uv);
    if constexpr (step == Step::reverse_project_out) project_scanned(layer, layer.w_rev, layer.uv_rev);
    if constexpr (step == Step::w_gradient) find_w_gradient(layer);
    if constexpr (step == Step::hidden_gradient) find_hidden_gradient(layer);
    if constexpr (step == Step::x_gradient_gate_w1)
        add_x_gradient(layer, layer.dhidden, layer.hidden, layer.gate_w1);
    if constexpr (step == Step::x_gradient_u_proj)
        add_x_gradient(layer, layer.dprojected_u, layer.rank, layer.u_proj);
    if constexpr (step == Step::x_gradient_v_proj)
        add_x_gradient(layer, layer.dprojected_v, layer.rank, layer.v_proj);
}

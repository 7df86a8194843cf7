#pragma once

// Descriptions of the launches of both variants on both backends: what each one means, reads, writes and
// computes. The scans between them are launches of the family scan (scans.h). An array that a launch writes
// and then reads back is listed as written only.

#include <utility>

#include "kernels/ar_ssm/tensors.h"
#include "kernels/core/launch.h"

namespace sawtooth::ar_ssm {

inline double numbers(const Tensors& t, int64_t columns) { return static_cast<double>(t.tokens() * columns); }
// The multiplications and additions in the product of all tokens with a matrix.
inline double product(const Tensors& t, int64_t rows, int64_t columns) {
    return 2 * numbers(t, columns) * static_cast<double>(rows);
}
inline double projections(const Tensors& t) {
    return product(t, t.width, t.hidden + 2 * t.rank) + product(t, t.hidden, t.rank);
}

// Launches of the variant unfused.

inline LaunchInfo convolve(const Tensors& t) {
    return {.name = "convolve",
            .meaning = "Step 1: t, the convolution of every channel with its three taps.",
            .reads = {t.x, t.weight.conv},
            .writes = {t.t},
            .work = {.operations = 5 * numbers(t, t.width)}};
}

inline LaunchInfo hidden(const Tensors& t) {
    return {.name = "hidden",
            .meaning = "Step 2: the hidden layer of the gates, relu(W1 x + b1).",
            .reads = {t.x, t.weight.gate_w1, t.weight.gate_b1},
            .writes = {t.hidden_units, t.hidden_rest},
            .work = {.operations = product(t, t.width, t.hidden)}};
}

// Adds the noise and divides by the temperature.
inline double noise(const Tensors& t) { return t.gumbel ? 2 * numbers(t, t.rank) : 0; }

// Logits so near to 0 that rounding could flip a hard gate are computed again, from x.
inline LaunchInfo gates(const Tensors& t) {
    const Buffers again = {t.x, t.weight.gate_w1, t.weight.gate_b1};
    return {
        .name = "gates",
        .meaning = t.gumbel ? "Step 2: the gates, sigmoid((W2 hidden + b2 + noise) / temperature)."
                            : "Step 2: the gates, sigmoid(W2 hidden + b2).",
        .reads = Buffers{t.hidden_units, t.hidden_rest, t.weight.gate_w2, t.weight.gate_b2, t.gate_noise} +
                 (t.hard ? again : Buffers()),
        .writes = {t.gates, t.stored_gates, t.gate_slopes},
        .work = {.operations = product(t, t.hidden, t.rank) + noise(t)}};
}

inline LaunchInfo effective_rank(const Tensors& t) {
    return {.name = "effective_rank",
            .meaning = "The sum of the gates of every position.",
            .reads = {t.gates},
            .writes = {t.effective_rank},
            .work = {.operations = numbers(t, t.rank)}};
}

inline LaunchInfo project_u(const Tensors& t) {
    return {.name = "project_u",
            .meaning = "Step 3: u = (x U^T) g.",
            .reads = {t.x, t.weight.u_proj, t.gates},
            .writes = {t.u, t.projected_u},
            .work = {.operations = product(t, t.width, t.rank)}};
}

inline LaunchInfo project_v(const Tensors& t) {
    return {.name = "project_v",
            .meaning = "Step 3: v = (x V^T) g.",
            .reads = {t.x, t.weight.v_proj, t.gates},
            .writes = {t.v, t.projected_v},
            .work = {.operations = product(t, t.width, t.rank)}};
}

// `reverse` selects the launch that follows the scan from the end.
inline LaunchInfo multiply(const Tensors& t, bool reverse) {
    return {.name = reverse ? "reverse_multiply" : "multiply",
            .meaning = reverse ? "Step 5: w_rev = c_rev v." : "Step 5: w = c v.",
            .reads = {reverse ? t.c_rev : t.c, t.v},
            .writes = {reverse ? t.w_rev : t.w},
            .work = {.operations = numbers(t, t.rank)}};
}

inline LaunchInfo project_out(const Tensors& t, bool reverse) {
    return {.name = reverse ? "reverse_project_out" : "project_out",
            .meaning = reverse ? "Step 5: uv_rev = w_rev W_o^T + b_o." : "Step 5: uv = w W_o^T + b_o.",
            .reads = {reverse ? t.w_rev : t.w, t.weight.out_proj, t.weight.out_bias},
            .writes = {reverse ? t.uv_rev : t.uv},
            .work = {.operations = product(t, t.rank, t.width)}};
}

inline LaunchInfo add(const Tensors& t) {
    return {.name = "add",
            .meaning = t.bidirectional ? "Step 6: y = (t + uv + uv_rev) / 2." : "Step 6: y = t + uv.",
            .reads = {t.t, t.uv, t.uv_rev},
            .writes = {t.y},
            .work = {.operations = (t.bidirectional ? 3 : 1) * numbers(t, t.width)}};
}

// Only on the CPU, and only where intermediates are outputs.
inline LaunchInfo store_intermediates(const Tensors& t) {
    LaunchInfo info = {.name = "store_intermediates",
                       .meaning = "Copies what the steps passed on to the outputs that were requested."};
    for (const Tensors::Stored& stored : t.stored_intermediates) {
        info.reads.push_back(stored.from);
        info.writes.push_back(stored.to);
    }
    return info;
}

inline LaunchInfo w_gradient(const Tensors& t) {
    return {.name = "w_gradient",
            .meaning = "The gradient of w, of both directions: dw = dy W_o.",
            .reads = {t.dy, t.back.out_proj},
            .writes = {t.dw},
            .work = {.operations = product(t, t.width, t.rank)}};
}

inline LaunchInfo factor_gradients(const Tensors& t) {
    return {.name = "factor_gradients",
            .meaning = "The gradients of both factors of w = c v: dc and dv.",
            .reads = {t.dw, t.v, t.c, t.c_rev},
            .writes = {t.dc, t.dv},
            .work = {.operations = 2 * numbers(t, t.rank)}};
}

inline LaunchInfo gate_gradients(const Tensors& t) {
    return {.name = "gate_gradients",
            .meaning = "The gradients of both factors of u = (x U^T) g and of v, and through the sigmoid.",
            .reads = {t.du, t.dv, t.gates, t.gate_slopes, t.projected_u, t.projected_v, t.du_rev},
            .writes = {t.dprojected_u, t.dprojected_v, t.dlogits},
            .work = {.operations = 8 * numbers(t, t.rank)}};
}

inline LaunchInfo hidden_gradient(const Tensors& t) {
    return {.name = "hidden_gradient",
            .meaning = "The gradient of the hidden layer before its relu.",
            .reads = {t.dlogits, t.back.gate_w2, t.hidden_units},
            .writes = {t.dhidden},
            .work = {.operations = product(t, t.rank, t.hidden)}};
}

inline LaunchInfo weight_gradient(const Tensors& t, const WeightGradient& gradient) {
    const std::string weight = gradient.weight();
    const double terms = numbers(t, count_of(gradient.to.shape));
    return {.name = (gradient.adds ? "reverse_" : "") + weight + "_gradient",
            .meaning = "The gradient of " + weight + (gradient.adds ? ", from the end: adds to it." : "."),
            .reads = {gradient.left, gradient.right, gradient.adds ? gradient.to : Buffer()},
            .writes = {gradient.to},
            .work = {.operations = gradient.left ? 2 * terms : terms}};
}

// The gradient through the convolution sets dx, those through the weights are added to it.
inline LaunchInfo x_gradient_conv(const Tensors& t) {
    return {.name = "x_gradient_conv",
            .meaning = "The gradient of x through the convolution.",
            .reads = {t.dy, t.back.conv},
            .writes = {t.dx, t.stored_dx},
            .work = {.operations = 5 * numbers(t, t.width)}};
}

inline LaunchInfo x_gradient(const Tensors& t, const Buffer& from, const Buffer& weight) {
    return {.name = "x_gradient_" + weight.name,
            .meaning = "Adds the gradient of x through " + weight.name + ".",
            .reads = {from, weight, t.dx},
            .writes = {t.dx, t.stored_dx},
            .work = {.operations = 2 * numbers(t, count_of(weight.shape)) + numbers(t, t.width)}};
}

// Launches of the variant fused.

inline LaunchInfo split_weights(const Tensors& t, const Buffer& weights, const Buffer& gate_w2) {
    return {.name = "split_weights",
            .meaning = "Splits W1, U, V and W2 in two numbers each, for products of f32 on tensor cores.",
            .reads = {t.weight.gate_w1, t.weight.u_proj, t.weight.v_proj, t.weight.gate_w2},
            .writes = {weights, gate_w2}};
}

inline LaunchInfo project(const Tensors& t) {
    return {.name = "project",
            .meaning = "Steps 2 and 3 of a tile of positions: gates, x U^T and x V^T, and the sum of u.",
            .reads = {t.x, t.weight.gate_w1, t.weight.gate_b1, t.weight.gate_w2, t.weight.gate_b2,
                      t.weight.u_proj, t.weight.v_proj, t.gate_noise},
            .writes = {t.gates, t.stored_gates, t.effective_rank, t.projected_u, t.projected_v, t.totals,
                       t.hidden_units, t.hidden_rest, t.gate_slopes},
            .work = {.operations = projections(t) + 2 * numbers(t, t.rank) + noise(t)}};
}

inline LaunchInfo scan_and_output(const Tensors& t) {
    return {.name = "scan_and_output",
            .meaning = "Scans u from the prefix of the tile, then steps 1, 5 and 6: y from c v and x.",
            .reads = {t.x, t.gates, t.projected_u, t.projected_v, t.prefixes, t.weight.conv,
                      t.weight.out_proj, t.weight.out_bias, t.reverse_prefixes},
            .writes = {t.y, t.w, t.c},
            .work = {.operations =
                         product(t, t.rank, t.width) + 7 * numbers(t, t.width) + 4 * numbers(t, t.rank)}};
}

inline LaunchInfo output_gradients(const Tensors& t) {
    return {.name = "output_gradients",
            .meaning = "dw = dy W_o of a tile, then dc and dv, and the sum of dc.",
            .reads = {t.dy, t.back.out_proj, t.gates, t.projected_v, t.c},
            .writes = {t.dc, t.dv, t.gradient_totals},
            .work = {.operations = product(t, t.width, t.rank) + 3 * numbers(t, t.rank)}};
}

inline LaunchInfo input_gradients(const Tensors& t) {
    return {.name = "input_gradients",
            .meaning = "Scans dc from the end, then the gradients of gates, hidden layer and x of a tile.",
            .reads = {t.dy, t.dc, t.dv, t.gates, t.gate_slopes, t.projected_u, t.projected_v, t.hidden_units,
                      t.gradient_prefixes, t.back.conv, t.back.gate_w1, t.back.gate_w2, t.back.u_proj,
                      t.back.v_proj, t.reverse_gradient_prefixes},
            .writes = {t.dprojected_u, t.dprojected_v, t.dlogits, t.dhidden, t.dx},
            .work = {.operations = projections(t) + 7 * numbers(t, t.width) + 10 * numbers(t, t.rank)}};
}

inline LaunchInfo weight_gradients(const Tensors& t) {
    return {.name = "weight_gradients",
            .meaning = "Sums the gradients of all nine weights over the tokens.",
            .reads = {t.x, t.dy, t.dprojected_u, t.dprojected_v, t.dlogits, t.dhidden, t.hidden_units, t.w},
            .writes = t.gradient.all(),
            .work = {.operations = projections(t) + product(t, t.rank, t.width) + 8 * numbers(t, t.width)}};
}

// Splits a launch that sums gradients over tokens in two. The first writes the sums over each part of the
// tokens to `partial` [parts, numbers]; the second, whose name begins with "sum_", adds the parts.
inline std::pair<LaunchInfo, LaunchInfo> in_parts(LaunchInfo summing, const Buffer& partial) {
    LaunchInfo adding = {.name = "sum_" + summing.name,
                         .meaning = "Adds the parts of the sums over tokens.",
                         .reads = {partial},
                         .writes = std::exchange(summing.writes, {partial})};
    for (const Buffer& gradient : adding.writes) {
        adding.work.operations += static_cast<double>(partial.shape.front() * count_of(gradient.shape));
        if (std::erase(summing.reads, gradient) > 0) adding.reads.push_back(gradient);
    }
    return {std::move(summing), std::move(adding)};
}

}  // namespace sawtooth::ar_ssm

#include "kernels/ar_ssm/tensors.h"

#include "kernels/cpu/products.h"

namespace sawtooth::ar_ssm {
namespace {

template <class ArrayOf>
Weights named_weights(ArrayOf array) {
    return {array("conv"),   array("gate_w1"), array("gate_b1"),  array("gate_w2"), array("gate_b2"),
            array("u_proj"), array("v_proj"),  array("out_proj"), array("out_bias")};
}

}  // namespace

Tensors::Tensors(PlanBuilder& builder, bool fused, bool keeps_hidden)
    : Sizes(builder.parameters()),
      on_cuda(builder.request().device),
      tile(on_cuda ? tile_rows_on_cuda : tile_rows_on_cpu(cpu::padded(width))) {
    const Storage between = on_cuda ? storage : Storage::f32;
    const bool unfused = !fused;
    // Without a backward pass, fused on the CPU keeps hidden units and w in the scratch of a tile.
    const bool keeps_all = on_cuda || unfused || backward;
    const auto take = [&](bool needed, const char* name, int64_t rows, int64_t columns, Storage stored) {
        const int64_t stride = on_cuda ? columns : cpu::padded(columns);
        return needed ? builder.take(name, {batch, rows, stride}, stored) : Buffer();
    };
    const auto ranks = [&](bool needed, const char* name, Storage stored = Storage::f32) {
        return take(needed, name, length, rank, stored);
    };
    const auto units = [&](bool needed, const char* name) {
        return take(needed, name, length, hidden, between);
    };
    // An array that is an output on request.
    const auto passed = [&](bool needed, const char* name, int64_t columns, Storage stored) {
        const Buffer output = on_cuda ? builder.output(name, stored) : Buffer();
        return output ? output : take(needed, name, length, columns, stored);
    };
    const auto totals_of = [&](bool needed, const char* name) {
        return take(fused && needed, name, tiles(), rank, Storage::f32);
    };
    const auto as_computed = [&](const Buffer& output) {
        const int64_t columns = output.shape.back();
        const bool in_place = on_cuda || columns % cpu::lanes == 0;
        return in_place ? output : take(true, output.name.c_str(), length, columns, between);
    };

    weight = named_weights([&](const char* name) { return builder.input(name, between); });
    back = weight;
    x = builder.input("x", storage);
    if (gumbel) gate_noise = builder.input("gate_noise");
    // Results list outputs in this order.
    y = builder.output("y", storage);
    stored_gates = builder.output("gates");
    effective_rank = builder.output("effective_rank");
    stored_dx = builder.output("dx");
    gradient = named_weights([&](const char* name) { return builder.output(std::string("d") + name); });
    gates = as_computed(stored_gates);
    hidden_units = units(keeps_all && keeps_hidden, "hidden");
    hidden_rest = units(on_cuda && keeps_hidden && hard && storage != Storage::f32, "hidden_rest");
    gate_slopes = ranks(backward, "gate_slopes");
    projected_u = ranks(fused || backward, "projected_u", between);
    projected_v = ranks(fused || backward, "projected_v", between);
    u = passed(unfused, "u", rank, between);
    v = passed(unfused, "v", rank, between);
    c = passed(unfused || backward, "c", rank, Storage::f32);
    c_rev = passed(unfused && bidirectional, "c_rev", rank, Storage::f32);
    w = ranks(keeps_all, "w", between);
    w_rev = ranks(unfused && bidirectional, "w_rev", between);
    t = passed(unfused, "t", width, between);
    uv = passed(unfused, "uv", width, between);
    uv_rev = passed(unfused && bidirectional, "uv_rev", width, between);
    for (const Buffer* const array : {&u, &v, &c, &c_rev, &t, &uv, &uv_rev}) {
        if (!*array || on_cuda) continue;
        const bool is_scanned = array == &c || array == &c_rev;
        if (const Buffer to = builder.output(array->name, is_scanned ? Storage::f32 : storage))
            stored_intermediates.push_back({*array, to});
    }
    totals = totals_of(true, "totals");
    prefixes = totals_of(true, "prefixes");
    reverse_prefixes = totals_of(bidirectional, "reverse_prefixes");
    if (!backward) return;
    dy = builder.input("dy", storage);
    dw = ranks(unfused, "dw");
    dc = ranks(true, "dc");
    dv = ranks(true, "dv");
    du = ranks(unfused, "du");
    du_rev = ranks(unfused && bidirectional, "du_rev");
    dprojected_u = ranks(true, "dprojected_u", between);
    dprojected_v = ranks(true, "dprojected_v", between);
    dlogits = ranks(true, "dlogits", between);
    dhidden = units(true, "dhidden");
    dx = fused ? stored_dx : as_computed(stored_dx);
    gradient_totals = totals_of(true, "gradient_totals");
    gradient_prefixes = totals_of(true, "gradient_prefixes");
    reverse_gradient_prefixes = totals_of(bidirectional, "reverse_gradient_prefixes");
}

std::vector<WeightGradient> Tensors::weight_gradients() const {
    const Weights& d = gradient;
    const Buffer ones;
    std::vector<WeightGradient> all = {
        {dy, x, d.conv, scale(), true, true},  // [width, 3]
        {dhidden, x, d.gate_w1},               // [hidden, width]
        {ones, dhidden, d.gate_b1},            // [hidden]
        {dlogits, hidden_units, d.gate_w2},    // [rank, hidden]
        {ones, dlogits, d.gate_b2},            // [rank]
        {dprojected_u, x, d.u_proj},           // [rank, width]
        {dprojected_v, x, d.v_proj},           // [rank, width]
        {w, dy, d.out_proj, scale(), true},    // [width, rank]
    };
    if (w_rev) all.push_back({w_rev, dy, d.out_proj, scale(), true, false, true});
    all.push_back({ones, dy, d.out_bias});
    return all;
}

}  // namespace sawtooth::ar_ssm

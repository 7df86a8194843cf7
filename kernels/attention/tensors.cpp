#include "kernels/attention/tensors.h"

#include "kernels/core/common_parameters.h"

namespace sawtooth::attention {

Tensors::Tensors(PlanBuilder& builder, Storage kernels_read) : working(kernels_read) {
    const Parameters& p = builder.parameters();
    heads = p.integer("Z") * p.integer("H");
    length = p.integer("N");
    d = p.integer("D");
    block_m = p.integer("BLOCK_M");
    block_n = p.integer("BLOCK_N");
    mask = mask_of(p);
    scale = static_cast<float>(p.real("scale"));
    storage = storage_named(p.text("dtype"));

    const auto as_kernels_read = [&](const Buffer& given) {
        if (!given || given.storage == working) return given;
        widened.emplace_back(given, builder.take(given.name, given.shape, working));
        return widened.back().second;
    };
    const auto input = [&](const char* name) { return as_kernels_read(builder.input(name, storage)); };
    q = builder.input("q", storage);
    k = builder.input("k", storage);
    if (q) {
        q1 = builder.take("q1", q.shape, working);
        q2 = builder.take("q2", q.shape, working);
        k1 = builder.take("k1", q.shape, working);
        k2 = as_kernels_read(k);
    } else {
        q1 = input("q1");
        q2 = input("q2");
        k1 = input("k1");
        k2 = input("k2");
    }
    v = input("v");
    dout = input("do");
    k1_columns = k1;
    k2_columns = k2;
    v_columns = v;

    stored_o = builder.output("o", storage);
    o = storage == working ? stored_o : builder.take("o", stored_o.shape, working);
    lse = builder.output("lse");
    softmax = {lse};
    delta = builder.output("delta");
    dq1 = builder.output("dq1");
    dq2 = builder.output("dq2");
    dk1 = builder.output("dk1");
    dk2 = builder.output("dk2");
    dv = builder.output("dv");
    dq = builder.output("dq");
    dk = builder.output("dk");
}

double Tensors::pairs() const {
    const auto n = static_cast<double>(length);
    return static_cast<double>(heads) * (mask.causal ? n * (n + 1) / 2 : n * n);
}

}  // namespace sawtooth::attention

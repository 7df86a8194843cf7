#include "kernels/attention/tensors.h"

#include "kernels/core/common_parameters.h"

namespace sawtooth::attention {

Tensors::Tensors(PlanBuilder& builder, Storage kernels_read, int64_t lanes) : working(kernels_read) {
    const Parameters& p = builder.parameters();
    heads = p.integer("Z") * p.integer("H");
    key_heads = p.integer("Z") * p.integer("H_kv");
    length = p.integer("N");
    query_count = p.integer("N_q");
    d = p.integer("D");
    width = round_up(d, lanes);
    block_m = p.integer("BLOCK_M");
    block_n = p.integer("BLOCK_N");
    mask = mask_of(p);
    scale = static_cast<float>(p.real("scale"));
    base = p.real("base");
    storage = storage_named(p.text("dtype"));

    const auto take = [&](const Buffer& like, Storage kept) {
        if (!like) return Buffer();
        Shape shape = like.shape;
        shape.back() = width;
        return builder.take(like.name, shape, kept);
    };
    const auto as_kernels_read = [&](const Buffer& given) {
        if (!given || (given.storage == working && width == d)) return given;
        widened.emplace_back(given, take(given, working));
        return widened.back().second;
    };
    const auto rotated = [&](const char* name, const Buffer& like) {
        Buffer to = take(like, working);
        to.name = name;
        return to;
    };
    const auto input = [&](const char* name) { return as_kernels_read(builder.input(name, storage)); };
    q = builder.input("q", storage);
    k = builder.input("k", storage);
    if (q) {
        q1 = rotated("q1", q);
        q2 = rotated("q2", q);
        k1 = rotated("k1", k);
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

    const auto output = [&](const char* name, Storage in_memory, Storage kernels_write) {
        const Buffer kept = builder.output(name, in_memory);
        if (!kept || (in_memory == kernels_write && width == d)) return kept;
        stored.emplace_back(take(kept, kernels_write), kept);
        return stored.back().first;
    };
    const auto gradient = [&](const char* name) { return output(name, Storage::f32, Storage::f32); };
    o = output("o", storage, working);
    lse = builder.output("lse");
    softmax = {lse};
    delta = builder.output("delta");
    dq1 = gradient("dq1");
    dq2 = gradient("dq2");
    dk1 = gradient("dk1");
    dk2 = gradient("dk2");
    dv = gradient("dv");
    dq = builder.output("dq");
    dk = builder.output("dk");
}

}  // namespace sawtooth::attention

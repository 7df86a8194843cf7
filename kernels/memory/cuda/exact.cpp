// Token by token on a GPU: sequential (a launch a token), sequential_persistent (one launch), the local
// memories of tnt, and associative_scan, whose trees stand over strips of rows too.

#include "kernels/memory/cuda.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

using cuda::Kernel;
using cuda::PlanBuilder;

constexpr int64_t persistent_group = 16;  // tokens staged at once; leaves of a tree

// How a thread block covers rows of a memory [d, d] (strip.cuh).
struct Strip {
    int64_t lanes, warps, row, rows;
};

Strip strip_of(int64_t d) {
    Strip strip{};
    strip.lanes = d <= 64 ? 4 : 8;
    const int64_t rows_a_warp = 32 / strip.lanes;
    strip.warps = std::min<int64_t>(ceil_divide(d, rows_a_warp), 4);
    strip.row = padded_to(d, 4 * strip.lanes);
    strip.rows = strip.warps * rows_a_warp;
    return strip;
}

// Bytes that copies of rows may move at once.
int64_t copy_bytes(int64_t row_bytes) {
    for (const int64_t bytes : {16, 8, 4})
        if (row_bytes % bytes == 0) return bytes;
    return 2;
}

int64_t group_of(const Job& sizes, int64_t tokens) {
    // A window is fetched at once.
    if (sizes.rule == UpdateRule::atlas_omega) return persistent_group;
    return std::min(tokens, persistent_group);
}

Defines strip_defines(const DeviceJob& job, int64_t group) {
    const Job& sizes = job.sizes;
    const Strip strip = strip_of(sizes.width);
    return {{"RULE", name_of(sizes.rule)},
            {"X", name_of(job.storage)},
            {"WIDTH", text_of(sizes.width)},
            {"LANES", text_of(strip.lanes)},
            {"WARPS", text_of(strip.warps)},
            {"GROUP", text_of(group)},
            {"COPY", text_of(copy_bytes(sizes.width * word_bytes(job)))},
            {"NORMALISE", text_of(sizes.normalises)},
            {"WINDOW", text_of(sizes.memory.window)}};
}

device_side::Walk walk_of(const DeviceJob& job) {
    device_side::Walk walk = {};
    walk.k = job.k, walk.v = job.v, walk.q = job.q;
    walk.gates = job.gates;
    walk.w_omega = job.w_omega;
    walk.m_from = job.m0, walk.s_from = job.s0;
    walk.m_to = job.final_m, walk.s_to = job.final_s;
    walk.boundaries = job.boundaries;
    walk.y = job.y;
    walk.length = job.sizes.length;
    walk.last = job.sizes.length;
    walk.chunk = job.chunk;
    walk.boundary_count = job.boundary_count;
    return walk;
}

Extent strip_grid(const Job& sizes, int64_t locals) {
    return {locals, ceil_divide(sizes.width, strip_of(sizes.width).rows), sizes.batch};
}
std::string strip_formula(const Job& sizes) {
    return "1, ceil(d / " + std::to_string(strip_of(sizes.width).rows) + "), B";
}
Extent strip_block(const Job& sizes) { return {32 * strip_of(sizes.width).warps, 1, 1}; }

Kernel walk_kernel(PlanBuilder& builder, const DeviceJob& job, int64_t tokens, bool local) {
    Defines defines = strip_defines(job, group_of(job.sizes, tokens));
    defines.emplace_back("LOCAL", text_of(local));
    return builder.kernel({"kernels/memory/walk.cu", std::move(defines)}, "walk");
}

LaunchInfo tokens_info(const DeviceJob& job, int64_t tokens, std::string formula) {
    const auto count = static_cast<double>(tokens);
    return describe_launch(tokens == 1 ? "token" : "tokens",
                           tokens == 1 ? "One token corrects the memory and reads it."
                                       : "All tokens, one after another, correct the memory and read it.",
                           std::move(formula), vectors_of(job, tokens), {y_of(job, tokens)},
                           {count * bytes_a_token(job.sizes), count * operations_a_token(job.sizes)});
}

void add_matrix_steps(PlanBuilder& builder, const DeviceJob& job, int64_t tokens) {
    const Job& sizes = job.sizes;
    const int64_t state = sizes.batch * sizes.width * sizes.width;
    const int64_t shared = walk_shared_bytes(sizes, word_bytes(job), tokens);
    const Kernel kernel = walk_kernel(builder, job, tokens, false);
    const bool is_one = tokens >= sizes.length;
    float* const live_m = is_one ? nullptr : builder.take<float>(state);
    float* const live_s = is_one || !sizes.memory.has_momentum ? nullptr : builder.take<float>(state);
    add_steps(sizes, tokens, [&](Range range) {
        device_side::Walk walk = walk_of(job);
        walk.first = range.first, walk.last = range.last;
        if (range.first > 0) walk.m_from = live_m, walk.s_from = live_s;
        if (range.last < sizes.length) walk.m_to = live_m, walk.s_to = live_s;
        if (range.first > 0) return builder.launch_again(kernel, shared, walk);
        builder.launch(tokens_info(job, tokens, strip_formula(sizes)), kernel, strip_grid(sizes, 1),
                       strip_block(sizes), shared, walk);
    });
}

int64_t trellis_shared_bytes(const Job& sizes, int64_t group) {
    const int64_t wide = padded_to(sizes.width, 32), narrow = padded_to(sizes.compress, 32);
    return 4 * group * (5 * wide + 2 * narrow + 4) + 64;
}

void add_trellis_steps(PlanBuilder& builder, const DeviceJob& job, int64_t tokens) {
    const Job& sizes = job.sizes;
    const int64_t group = std::min<int64_t>(tokens, sizes.width <= 64 ? 16 : 8);
    const int64_t state = sizes.batch * sizes.width * sizes.compress;
    const int64_t shared = trellis_shared_bytes(sizes, group);
    const Kernel kernel = builder.kernel({"kernels/memory/trellis.cu",
                                          {{"X", name_of(job.storage)},
                                           {"WIDTH", text_of(sizes.width)},
                                           {"COMPRESS", text_of(sizes.compress)},
                                           {"NORMALISE", text_of(sizes.normalises)},
                                           {"GROUP", text_of(group)}}},
                                         "trellis");
    const bool is_one = tokens >= sizes.length;
    float* const keys = is_one ? nullptr : builder.take<float>(state);
    float* const values = is_one ? nullptr : builder.take<float>(state);
    add_steps(sizes, tokens, [&](Range range) {
        const bool is_first = range.first == 0, is_last = range.last == sizes.length;
        const device_side::Trellis trellis = {job.x,
                                              job.k,
                                              job.v,
                                              job.q,
                                              job.gates,
                                              job.lambda_values,
                                              is_first ? job.m0 : keys,
                                              is_first ? job.s0 : values,
                                              is_last ? job.final_m : keys,
                                              is_last ? job.final_s : values,
                                              job.y,
                                              sizes.length,
                                              range.first,
                                              range.last};
        if (!is_first) return builder.launch_again(kernel, shared, trellis);
        builder.launch(tokens_info(job, tokens, "B"), kernel, {sizes.batch, 1, 1},
                       {padded_to(8 * sizes.width, 32), 1, 1}, shared, trellis);
    });
}

void add_tokens(PlanBuilder& builder, const DeviceJob& job, int64_t tokens) {
    if (job.sizes.rule == UpdateRule::lattice) return add_slot_steps(builder, job, tokens);
    if (job.sizes.rule == UpdateRule::trellis) return add_trellis_steps(builder, job, tokens);
    add_matrix_steps(builder, job, tokens);
}

}  // namespace

int64_t walk_shared_bytes(const Job& sizes, int64_t word_bytes, int64_t tokens) {
    const int64_t group = group_of(sizes, tokens);
    const Strip strip = strip_of(sizes.width);
    const int64_t ring = sizes.memory.window - 1 + group;
    const int64_t raw = 6 * padded_to(group * sizes.width, 8) * word_bytes;
    const int64_t of_w = (sizes.rule == UpdateRule::atlas ? group : 1) * 2 * strip.row;
    return raw +
           4 * (6 * group + ring * strip.row + group * strip.row + ring * strip.rows + group * strip.rows +
                of_w) +
           128;
}

int64_t tree_shared_bytes(const Job& sizes, int64_t word_bytes) {
    const Strip strip = strip_of(sizes.width);
    const bool is_windowed = sizes.rule == UpdateRule::atlas_omega;
    const int64_t ring = is_windowed ? sizes.memory.window - 1 + persistent_group : 1;
    return walk_shared_bytes(sizes, word_bytes, persistent_group) +
           4 * 3 * strip.row / strip.lanes * 32 * strip.warps + 4 * ring * strip.rows +
           32 * persistent_group + 64;
}

void add_sequential(PlanBuilder& builder, const DeviceJob& job) { add_tokens(builder, job, 1); }

void add_sequential_persistent(PlanBuilder& builder, const DeviceJob& job) {
    add_tokens(builder, job, job.sizes.length);
}

void add_associative_scan(PlanBuilder& builder, const DeviceJob& job) {
    const Job& sizes = job.sizes;
    Defines defines = strip_defines(job, persistent_group);
    defines.emplace_back("AT_BOUNDARY", text_of(sizes.reads_boundary));
    const auto tokens = static_cast<double>(sizes.batch * sizes.length),
               size = static_cast<double>(sizes.width * sizes.width);
    const double matrices = sizes.memory.has_momentum ? 2 : 1;
    builder.launch(
        describe_launch(
            "tree", "In every tile totals go up a tree and states come down; then tokens read.",
            strip_formula(sizes), vectors_of(job, sizes.length), {y_of(job, sizes.length)},
            {static_cast<double>(sizes.length) * bytes_a_token(sizes), (8 * matrices + 6) * tokens * size}),
        builder.kernel({"kernels/memory/tree.cu", std::move(defines)}, "tree"), strip_grid(sizes, 1),
        strip_block(sizes), tree_shared_bytes(sizes, word_bytes(job)), walk_of(job));
}

namespace {

void add_locals(PlanBuilder& builder, const DeviceJob& job, const Kernel& kernel, Range shard,
                const float* global, float* sums) {
    const Job& sizes = job.sizes;
    const int64_t locals = ceil_divide(shard.count(), sizes.local_tokens);
    const auto count = static_cast<double>(shard.count());
    device_side::Walk walk = walk_of(job);
    walk.first = shard.first, walk.last = shard.last;
    walk.local_tokens = sizes.local_tokens;
    walk.m_from = global, walk.s_from = nullptr;
    walk.m_to = walk.s_to = walk.boundaries = nullptr;
    walk.sums = sums;
    LaunchInfo info =
        describe_launch("locals", "Local memories run over their tokens, all of a shard at once.",
                        "ceil(C_G / C_L), ceil(d / " + std::to_string(strip_of(sizes.width).rows) + "), B",
                        vectors_of(job, shard.count()),
                        {y_of(job, shard.count()), {"sums of y", {sizes.batch, locals, sizes.width}}},
                        {count * bytes_a_token(sizes), count * operations_a_token(sizes)});
    builder.launch(std::move(info), kernel, strip_grid(sizes, locals), strip_block(sizes),
                   walk_shared_bytes(sizes, word_bytes(job), sizes.local_tokens), walk);
}

void add_global_step(PlanBuilder& builder, const DeviceJob& job, const Kernel& kernel, Range shard,
                     const float* from, float* to, const float* sums) {
    const Job& sizes = job.sizes;
    const int64_t d = sizes.width, locals = ceil_divide(shard.count(), sizes.local_tokens);
    const ArrayUse m = {"m", {sizes.batch, d, d}};
    const auto size = static_cast<double>(sizes.batch * d * d);
    const device_side::GlobalStep step = {
        sums,        job.gates.alpha, from,   to,        job.boundaries,    sizes.length,
        shard.first, shard.last,      locals, job.chunk, job.boundary_count};
    builder.launch(
        describe_launch("global_step", "The means of a shard move the global memory.", "8, B",
                        {{"sums of y", {sizes.batch, locals, d}}, {"alpha", {sizes.batch, shard.count()}}, m},
                        {m}, {8 * size, 3 * size}),
        kernel, {8, sizes.batch, 1}, {128, 1, 1}, 0, step);
}

}  // namespace

void add_tnt(PlanBuilder& builder, const DeviceJob& job) {
    const Job& sizes = job.sizes;
    const int64_t d = sizes.width;
    float* const live = builder.take<float>(sizes.batch * d * d);
    float* const sums = builder.take<float>(sizes.batch * ceil_divide(job.chunk, sizes.local_tokens) * d);
    const Kernel locals = walk_kernel(builder, job, sizes.local_tokens, true);
    const Kernel step =
        builder.kernel({"kernels/memory/global_step.cu", {{"WIDTH", text_of(d)}}}, "global_step");
    for (int64_t first = 0; first < sizes.length; first += job.chunk) {
        const Range shard{first, std::min(first + job.chunk, sizes.length)};
        const float* const from = first == 0 ? job.m0 : live;
        add_locals(builder, job, locals, shard, from, sums);
        add_global_step(builder, job, step, shard, from, shard.last == sizes.length ? job.final_m : live,
                        sums);
    }
}

}  // namespace sawtooth::memory

// Matrix rules token by token: sequential (a launch a token), sequential_persistent (one launch), the local
// memories of tnt, and associative_scan, whose trees stand over strips of rows too. Trellis token by token.

#include <algorithm>

#include "kernels/cuda/struct_bytes.h"
#include "kernels/memory/cuda/strategies.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

using cuda::Defines;
using cuda::KernelSource;
using cuda::PlanBuilder;
using cuda::StructBytes;

constexpr int64_t persistent_group = 16;  // tokens staged at once; leaves of a tree
constexpr int64_t float_bytes = 4;

// How a thread block covers rows of a memory [d, d] (strip.cuh).
struct Strip {
    int64_t lanes, threads;
    int64_t row;   // numbers of a row in shared memory
    int64_t rows;  // of the block
};

Strip strip_of(const Job& job) {
    Strip strip{};
    strip.lanes = job.d <= 64 ? 4 : 8;
    strip.threads = 32 * std::min<int64_t>(ceil_divide(job.d, 32 / strip.lanes), 4);
    strip.row = round_up(job.d, 4 * strip.lanes);
    strip.rows = strip.threads / strip.lanes;
    return strip;
}

// Bytes that copies of rows may move at once.
int64_t copy_bytes(const Job& job) {
    for (const int64_t bytes : {16, 8, 4})
        if (job.d * bytes_of(job.storage) % bytes == 0) return bytes;
    return 2;
}

int64_t group_of(const Job& job, int64_t tokens) {
    // A window is fetched at once.
    return job.rule->is_windowed ? persistent_group : std::min(tokens, persistent_group);
}

// Tokens whose keys and values are kept.
int64_t ring_of(const Job& job, int64_t group) { return job.window - 1 + group; }

// Staged of strip.cuh.
int64_t staged_bytes(const Job& job, int64_t group) {
    const Strip strip = strip_of(job);
    const int64_t ring = ring_of(job, group);
    return StructBytes()
        .array(2 * 3 * round_up(group * job.d, 8), bytes_of(job.storage), 16)  // raw
        .array(2 * 3 * group, float_bytes, 16)                                 // gates
        .array(ring * strip.row, float_bytes, 16)                              // k
        .array(group * strip.row, float_bytes, 16)                             // q
        .array(ring * strip.rows, float_bytes)                                 // v
        .array(group * strip.rows, float_bytes)                                // y
        .array((job.rule->reads_w_omega ? group : 1) * 2 * strip.row, float_bytes, 16)
        .total();
}

KernelSource strip_source(const Job& job, const char* entry, int64_t group, int64_t shared_bytes) {
    const Strip strip = strip_of(job);
    return kernel(entry, strip.threads, shared_bytes,
                  {{"RULE", job.rule->name},
                   {"X", name_of(job.storage)},
                   {"WIDTH", job.d},
                   {"LANES", strip.lanes},
                   {"GROUP", group},
                   {"COPY", copy_bytes(job)},
                   {"NORMALISE", job.normalises},
                   {"WINDOW", job.window}});
}

KernelSource exact_source(const Job& job, int64_t tokens, bool is_local) {
    KernelSource source = strip_source(job, "exact", group_of(job, tokens), exact_shared_bytes(job, tokens));
    source.defines.emplace_back("LOCAL", is_local);
    return source;
}

Grid strip_grid(const Job& job, Side locals = {}) {
    return {std::move(locals), pieces("d", job.d, strip_of(job).rows), side("B", job.batch)};
}

// All tokens in one launch.
ExactArguments arguments_of(const Job& job) {
    const Chain chain = matrix_chain(job);
    ExactArguments all = {};
    all.k = job.k, all.v = job.v, all.q = job.q;
    all.gates = arguments_of(chain.gates);
    all.w_omega = job.w_omega;
    all.m_from = chain.m0, all.s_from = chain.s0;
    all.m_to = chain.final_m, all.s_to = chain.final_s;
    all.boundaries = chain.boundaries;
    all.y = job.y;
    all.length = all.last = job.length;
    all.chunk = job.chunk;
    all.boundary_count = job.boundary_count;
    return all;
}

}  // namespace

int64_t exact_shared_bytes(const Job& job, int64_t tokens) {
    return staged_bytes(job, group_of(job, tokens));
}

// Shared of tree.cu.
int64_t tree_shared_bytes(const Job& job) {
    const Strip strip = strip_of(job);
    const int64_t numbers = strip.row / strip.lanes * strip.threads;
    return StructBytes()
        .array(1, staged_bytes(job, persistent_group), 16)
        .array(3 * numbers, float_bytes)  // m, s, boundary
        .array((job.rule->is_windowed ? ring_of(job, persistent_group) : 1) * strip.rows, float_bytes)
        .array(2 * persistent_group, 16)  // nodes
        .total();
}

void add_matrix_steps(PlanBuilder& builder, const Job& job, int64_t tokens) {
    const int64_t state = job.batch * job.d * job.d, count = ceil_divide(job.length, tokens);
    const bool has_momentum = job.rule->has_momentum;
    float* const live_m = count > 1 ? builder.take<float>(state) : nullptr;
    float* const live_s = count > 1 && has_momentum ? builder.take<float>(state) : nullptr;
    builder.launch_steps(describe::tokens(job, tokens), strip_grid(job), exact_source(job, tokens, false),
                         count, [all = arguments_of(job), live_m, live_s, tokens](int64_t step) {
                             ExactArguments mine = all;
                             mine.first = step * tokens;
                             mine.last = std::min(mine.first + tokens, all.length);
                             if (mine.first > 0) mine.m_from = live_m, mine.s_from = live_s;
                             if (mine.last < all.length) mine.m_to = live_m, mine.s_to = live_s;
                             return mine;
                         });
}

void add_trellis_steps(PlanBuilder& builder, const Job& job, int64_t tokens) {
    const int64_t group = std::min<int64_t>(tokens, job.d <= 64 ? 16 : 8);
    const int64_t wide = round_up(job.d, 32), narrow = round_up(job.compress, 32);
    const int64_t state = job.batch * job.d * job.compress, count = ceil_divide(job.length, tokens);
    float* const keys = count > 1 ? builder.take<float>(state) : nullptr;
    float* const values = count > 1 ? builder.take<float>(state) : nullptr;
    const int64_t shared_bytes = StructBytes()
                                     .array(4 * group * wide, float_bytes, 16)    // x, k, v, q
                                     .array(2 * group * narrow, float_bytes, 16)  // z, r
                                     .array(group * wide, float_bytes)            // y
                                     .array(group, 12, float_bytes)               // gates
                                     .array(group, float_bytes)                   // decays
                                     .total();
    const KernelSource source = kernel("trellis", round_up(8 * job.d, 32), shared_bytes,
                                       {{"X", name_of(job.storage)},
                                        {"WIDTH", job.d},
                                        {"COMPRESS", job.compress},
                                        {"NORMALISE", job.normalises},
                                        {"GROUP", group}});
    const Chain of_keys = key_chain(job), of_values = value_chain(job);
    TrellisArguments all = {};
    all.x = job.x, all.k = job.k, all.v = job.v, all.q = job.q, all.y = job.y;
    all.gates = arguments_of(of_keys.gates);
    all.lambda_values = of_values.gates.lambda;
    all.keys_from = of_keys.m0, all.values_from = of_values.m0;
    all.keys_to = of_keys.final_m, all.values_to = of_values.final_m;
    all.length = all.last = job.length;
    builder.launch_steps(describe::tokens(job, tokens), Grid{.x = side("B", job.batch)}, source, count,
                         [all, keys, values, tokens](int64_t step) {
                             TrellisArguments mine = all;
                             mine.first = step * tokens;
                             mine.last = std::min(mine.first + tokens, all.length);
                             if (mine.first > 0) mine.keys_from = keys, mine.values_from = values;
                             if (mine.last < all.length) mine.keys_to = keys, mine.values_to = values;
                             return mine;
                         });
}

void add_associative_scan(PlanBuilder& builder, const Job& job) {
    KernelSource source = strip_source(job, "tree", persistent_group, tree_shared_bytes(job));
    source.defines.emplace_back("AT_BOUNDARY", job.reads_boundary);
    builder.launch(describe::tree(job, {0, job.length}, describe::inputs_of(job, job.length)),
                   strip_grid(job), source, arguments_of(job));
}

namespace {

// The local memories of a shard, each from the global memory.
void add_locals(PlanBuilder& builder, const Job& job, Range shard, const float* global, float* sums) {
    ExactArguments arguments = arguments_of(job);
    arguments.first = shard.first, arguments.last = shard.last;
    arguments.local_tokens = job.local_tokens;
    arguments.m_from = global, arguments.s_from = nullptr;
    arguments.m_to = arguments.s_to = arguments.boundaries = nullptr;
    arguments.sums = sums;
    builder.launch(describe::locals(job, shard),
                   strip_grid(job, pieces("C_G", shard.count(), "C_L", job.local_tokens)),
                   exact_source(job, job.local_tokens, true), arguments);
}

void add_global_step(PlanBuilder& builder, const Job& job, Range shard, const float* from, float* to,
                     const float* sums) {
    const TntStepArguments arguments = {
        sums,        job.alpha,         from,
        to,          job.boundaries,    job.length,
        shard.first, shard.last,        ceil_divide(shard.count(), job.local_tokens),
        job.chunk,   job.boundary_count};
    builder.launch(describe::global_step(job, shard), Grid{.x = side("8", 8), .y = side("B", job.batch)},
                   kernel("tnt_step", 128, 0, {{"WIDTH", job.d}}), arguments);
}

}  // namespace

void add_tnt(PlanBuilder& builder, const Job& job) {
    float* const live = builder.take<float>(job.batch * job.d * job.d);
    float* const sums = builder.take<float>(job.batch * ceil_divide(job.chunk, job.local_tokens) * job.d);
    for (int64_t first = 0; first < job.length; first += job.chunk) {
        const Range shard{first, std::min(first + job.chunk, job.length)};
        const float* const from = first == 0 ? job.m0 : live;
        add_locals(builder, job, shard, from, sums);
        add_global_step(builder, job, shard, from, shard.last == job.length ? job.final_m : live, sums);
    }
}

}  // namespace sawtooth::memory

// Matrix rules token by token: sequential (one launch per token), sequential_persistent (one launch), the
// local memories of tnt, and associative_scan, whose trees also cover strips of rows. Trellis token by token.

#include <algorithm>

#include "kernels/cuda/struct_bytes.h"
#include "kernels/memory/cuda/strategies.h"

namespace sawtooth::memory {
namespace {

using cuda::Defines;
using cuda::KernelSource;
using cuda::PlanBuilder;
using cuda::StructBytes;

constexpr int64_t persistent_group = 16;  // tokens staged together; leaves of a tree
constexpr int64_t float_bytes = 4;

// The rows of a memory [d, d] that a thread block owns (strip.cuh).
struct Strip {
    int64_t lanes, threads;
    int64_t row;   // numbers per row in shared memory
    int64_t rows;  // per block
};

Strip strip_of(const Job& job) {
    const int64_t lanes = job.d <= 64 ? 4 : 8;
    const int64_t threads = 32 * std::min<int64_t>(ceil_divide(job.d, 32 / lanes), 4);
    return {lanes, threads, round_up(job.d, 4 * lanes), threads / lanes};
}

// Bytes per asynchronous copy that the alignment of rows allows.
int64_t copy_bytes(const Job& job) {
    for (const int64_t bytes : {16, 8, 4})
        if (job.d * bytes_of(job.storage) % bytes == 0) return bytes;
    return 2;
}

int64_t group_of(const Job& job, int64_t tokens) {
    // A window is loaded as a whole.
    return job.rule->is_windowed ? persistent_group : std::min(tokens, persistent_group);
}

// Tokens whose keys and values are kept in shared memory.
int64_t ring_of(const Job& job, int64_t group) { return job.window - 1 + group; }

// `Staged` of strip.cuh.
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
                  {{"HAS_MOMENTUM", job.rule->has_momentum},
                   {"READS_MEMORY", job.rule->reads_memory},
                   {"READS_W_OMEGA", job.rule->reads_w_omega},
                   {"IS_WINDOWED", job.rule->is_windowed},
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

ExactArguments exact_arguments(const Job& job) { return {token_arguments(job), job.w_omega, 0, nullptr}; }

}  // namespace

int64_t exact_shared_bytes(const Job& job, int64_t tokens) {
    return staged_bytes(job, group_of(job, tokens));
}

// `Shared` of tree.cu.
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
    launch_steps(builder, job, tokens, strip_grid(job), exact_source(job, tokens, false),
                 exact_arguments(job));
}

void add_trellis_steps(PlanBuilder& builder, const Job& job, int64_t tokens) {
    const int64_t group = std::min<int64_t>(tokens, job.d <= 64 ? 16 : 8);
    const int64_t wide = round_up(job.d, 32), narrow = round_up(job.compress, 32);
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
    TrellisArguments all = {token_arguments(job), job.lambda_v};
    all.gates.lambda = job.lambda_k;
    launch_steps(builder, job, tokens, Grid{.x = side("B", job.batch)}, source, all);
}

void add_associative_scan(PlanBuilder& builder, const Job& job) {
    KernelSource source = strip_source(job, "tree", persistent_group, tree_shared_bytes(job));
    source.defines.emplace_back("AT_BOUNDARY", job.reads_boundary);
    builder.launch(describe::tree(job, {0, job.length}, describe::inputs_of(job, job.length)),
                   strip_grid(job), source, exact_arguments(job));
}

namespace {

// The local memories of a shard, each from the global memory.
void add_locals(PlanBuilder& builder, const Job& job, const TokenArguments& global, Range shard,
                float* sums) {
    ExactArguments arguments = {global, nullptr, job.local_tokens, sums};
    arguments.boundaries = nullptr;  // only the global memory stores them
    builder.launch(describe::locals(job, shard),
                   strip_grid(job, pieces("C_G", shard.count(), "C_L", job.local_tokens)),
                   exact_source(job, job.local_tokens, true), arguments);
}

void add_global_step(PlanBuilder& builder, const Job& job, const TokenArguments& global, Range shard,
                     const float* sums) {
    builder.launch(describe::global_step(job, shard), Grid{.x = side("8", 8), .y = side("B", job.batch)},
                   kernel("tnt_step", 128, 0, {{"WIDTH", job.d}}),
                   TntStepArguments{global, sums, ceil_divide(shard.count(), job.local_tokens)});
}

}  // namespace

void add_tnt(PlanBuilder& builder, const Job& job) {
    TokenArguments all = token_arguments(job);
    all.m.live = builder.take<float>(job.batch * job.d * job.d);
    float* const sums = builder.take<float>(job.batch * ceil_divide(job.chunk, job.local_tokens) * job.d);
    each_range(builder, {0, job.length}, job.chunk, [&](Range shard) {
        TokenArguments global = all;
        narrow(global, shard);
        add_locals(builder, job, global, shard, sums);
        add_global_step(builder, job, global, shard, sums);
    });
}

}  // namespace sawtooth::memory

// Matrix rules token by token: sequential (one launch per token), sequential_persistent (one launch), the
// local memories of tnt, and associative_scan, whose trees also cover strips of rows. Also trellis token by
// token, and tnt of lattice and trellis.

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

constexpr int64_t persistent_group = 16;  // tokens staged together; leaves of a tree

// The rows of a memory [d, d] that a thread block owns (strip.cuh).
struct StripShape {
    int64_t lanes, threads;
    int64_t row;   // numbers per row in shared memory
    int64_t rows;  // rows per block
};

StripShape strip_shape(const Sizes& sizes) {
    const int64_t lanes = sizes.d <= 64 ? 4 : 8;
    const int64_t threads = 32 * std::min<int64_t>(ceil_divide(sizes.d, 32 / lanes), 4);
    return {lanes, threads, round_up(sizes.d, 4 * lanes), threads / lanes};
}

// The largest size of an asynchronous copy that the alignment of rows allows, in bytes.
int64_t copy_bytes(const Sizes& sizes) {
    for (const int64_t bytes : {16, 8, 4})
        if (sizes.d * bytes_of(sizes.storage) % bytes == 0) return bytes;
    return 2;
}

int64_t group_of(const Sizes& sizes, int64_t tokens) {
    // A window is loaded as a whole.
    return sizes.rule->is_windowed ? persistent_group : std::min(tokens, persistent_group);
}

// The number of tokens whose keys and values are kept in shared memory.
int64_t ring_of(const Sizes& sizes, int64_t group) { return sizes.window - 1 + group; }

// The bytes of `Staged` in strip.cuh.
int64_t staged_bytes(const Sizes& sizes, int64_t group) {
    const StripShape strip = strip_shape(sizes);
    const int64_t ring = ring_of(sizes, group);
    return StructBytes()
        .array(2 * 3 * round_up(group * sizes.d, 8), bytes_of(sizes.storage), 16)  // raw
        .array(2 * 3 * group, float_bytes, 16)                                     // gates
        .array(ring * strip.row, float_bytes, 16)                                  // k
        .array(group * strip.row, float_bytes, 16)                                 // q
        .array(ring * strip.rows, float_bytes)                                     // v
        .array(group * strip.rows, float_bytes)                                    // y
        .array((sizes.rule->reads_w_omega ? group : 1) * 2 * strip.row, float_bytes, 16)
        .total();
}

KernelSource strip_source(const Tensors& sizes, const char* entry, int64_t group, int64_t shared_bytes) {
    const StripShape strip = strip_shape(sizes);
    return kernel(entry, strip.threads, shared_bytes,
                  {{"HAS_MOMENTUM", sizes.rule->has_momentum},
                   {"READS_MEMORY", sizes.rule->reads_memory},
                   {"READS_W_OMEGA", sizes.rule->reads_w_omega},
                   {"IS_WINDOWED", sizes.rule->is_windowed},
                   {"X", name_of(sizes.storage)},
                   {"WIDTH", sizes.d},
                   {"LANES", strip.lanes},
                   {"GROUP", group},
                   {"COPY", copy_bytes(sizes)},
                   {"NORMALISE", sizes.normalises},
                   {"WINDOW", sizes.window},
                   {"WINDOWS_VARY", static_cast<bool>(sizes.omega_windows)}});
}

KernelSource exact_source(const Tensors& sizes, int64_t tokens, bool is_local) {
    KernelSource source =
        strip_source(sizes, "exact", group_of(sizes, tokens), exact_shared_bytes(sizes, tokens));
    source.defines.emplace_back("LOCAL", is_local);
    return source;
}

Grid strip_grid(const Sizes& sizes, Side locals = {}) {
    return {std::move(locals), pieces("d", sizes.d, strip_shape(sizes).rows), side("B", sizes.batch)};
}

}  // namespace

int64_t exact_shared_bytes(const Sizes& sizes, int64_t tokens) {
    return staged_bytes(sizes, group_of(sizes, tokens));
}

// The bytes of `Shared` in tree.cu.
int64_t tree_shared_bytes(const Sizes& sizes) {
    const StripShape strip = strip_shape(sizes);
    const int64_t numbers = strip.row / strip.lanes * strip.threads;
    return StructBytes()
        .array(1, staged_bytes(sizes, persistent_group), 16)
        .array(3 * numbers, float_bytes)  // m, s, boundary
        .array((sizes.rule->is_windowed ? ring_of(sizes, persistent_group) : 1) * strip.rows, float_bytes)
        .array(2 * persistent_group, 16)  // nodes
        .total();
}

void add_matrix_steps(PlanBuilder& builder, const Tensors& t, int64_t tokens) {
    launch_steps(builder, t, tokens, strip_grid(t), exact_source(t, tokens, false));
}

KernelSource trellis_source(const Sizes& t, int64_t tokens, bool is_local) {
    const int64_t group = std::min<int64_t>(tokens, t.d <= 64 ? 16 : 8);
    const int64_t wide = round_up(t.d, 32), narrow = round_up(t.compress, 32);
    const int64_t shared_bytes = StructBytes()
                                     .array(4 * group * wide, float_bytes, 16)    // x, k, v, q
                                     .array(2 * group * narrow, float_bytes, 16)  // z, r
                                     .array(group * wide, float_bytes)            // y
                                     .array(group, 12, float_bytes)               // gates
                                     .array(group, float_bytes)                   // decays
                                     .total();
    return kernel("trellis", round_up(8 * t.d, 32), shared_bytes,
                  {{"X", name_of(t.storage)},
                   {"WIDTH", t.d},
                   {"COMPRESS", t.compress},
                   {"NORMALISE", t.normalises},
                   {"GROUP", group},
                   {"LOCAL", is_local}});
}

void add_trellis_steps(PlanBuilder& builder, const Tensors& t, int64_t tokens) {
    launch_steps(builder, t, tokens, Grid{.x = side("B", t.batch)}, trellis_source(t, tokens, false));
}

void add_associative_scan(PlanBuilder& builder, const Tensors& t) {
    KernelSource source = strip_source(t, "tree", persistent_group, tree_shared_bytes(t));
    source.defines.emplace_back("AT_BOUNDARY", t.reads_boundary);
    builder.launch(launches::tree(t, {0, t.length}, launches::inputs(t, t.length)), strip_grid(t), source,
                   arguments_of(t));
}

namespace {

// Shards alternate between two states: all local memories of a shard read one while the last of them writes
// the other.
void add_shards_of_slots(PlanBuilder& builder, const Tensors& t) {
    const auto take = [&](const char* second) -> Buffers {
        const auto named = [&](const char* name) { return std::string(name) + " between launches" + second; };
        return {builder.take(named("m"), {t.batch, t.state_rows(), t.d}),
                t.passes_s ? builder.take(named("s"), {t.batch, t.d, t.state_rows()}) : Buffer()};
    };
    const Buffers states[] = {take(""), take(", of every second shard")};
    const KernelSource source =
        t.rule->is(State::slots) ? slots_source(t, true) : trellis_source(t, t.local_tokens, true);
    each_range(builder, {0, t.length}, t.chunk, [&](Range shard) {
        const int64_t odd = shard.first / t.chunk % 2;
        const Buffers &before = states[odd], &after = states[1 - odd];
        Arguments local = arguments_of(t);
        local.local_tokens = t.local_tokens;
        local.m.live = before[0].as<float>();
        local.s.live = before[1].as<float>();
        narrow(local, shard);
        if (shard.last < t.length) {
            local.m.to = after[0].as<float>();
            local.s.to = after[1].as<float>();
        }
        builder.launch(launches::locals_with_slots(t, shard, before, after),
                       {pieces("C_G", shard.count(), "C_L", t.local_tokens), side("B", t.batch)}, source,
                       local);
    });
}

}  // namespace

void add_tnt(PlanBuilder& builder, const Tensors& given) {
    if (!given.rule->is(State::matrix)) return add_shards_of_slots(builder, given);
    Tensors t = given;
    t.m.live = builder.take("m between launches", {t.batch, t.d, t.d});
    const Buffer all_sums = builder.take("sums of y", {t.batch, ceil_divide(t.chunk, t.local_tokens), t.d});
    each_range(builder, {0, t.length}, t.chunk, [&](Range shard) {
        Arguments global = arguments_of(t);
        narrow(global, shard);
        global.local_tokens = t.local_tokens;
        global.locals = ceil_divide(shard.count(), t.local_tokens);
        global.sums = all_sums.as<float>();
        const Buffer sums = first_of(all_sums, global.locals);
        Arguments local = global;
        local.boundaries = nullptr;  // only the global memory stores them
        builder.launch(launches::locals(t, shard, sums),
                       strip_grid(t, pieces("C_G", shard.count(), "C_L", t.local_tokens)),
                       exact_source(t, t.local_tokens, true), local);
        builder.launch(launches::global_step(t, shard, sums),
                       Grid{.x = side("8", 8), .y = side("B", t.batch)},
                       kernel("tnt_step", 128, 0, {{"WIDTH", t.d}}), global);
    });
}

}  // namespace sawtooth::memory

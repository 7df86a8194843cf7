// The launches of a strategy for each kind of state, and the limits of a chip.

#include "kernels/memory/cuda/strategies.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/table.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t widest = 128;  // largest d: a row must fit in registers and shared memory

void add_tokens(cuda::PlanBuilder& builder, const Tensors& t, int64_t tokens) {
    switch (t.rule->state) {
        case State::matrix:
            return add_matrix_steps(builder, t, tokens);
        case State::slots:
            return add_slot_steps(builder, t, tokens);
        case State::trellis:
            return add_trellis_steps(builder, t, tokens);
    }
}

int64_t bytes_of_tokens(const Sizes& sizes, int64_t tokens) {
    switch (sizes.rule->state) {
        case State::matrix:
            return exact_shared_bytes(sizes, tokens);
        case State::slots:
            return lattice_shared_bytes(sizes, false, true);
        case State::trellis:
            return 0;  // every accepted size fits
    }
    return 0;
}

// The parameter that decides the shared memory of a thread block.
std::string largest_of(const Sizes& sizes) {
    if (sizes.rule->is(State::slots)) return "slot_count = " + std::to_string(sizes.slot_count);
    return sizes.rule->is_windowed ? "omega_window = " + std::to_string(sizes.omega_window)
                                   : "d = " + std::to_string(sizes.d);
}

}  // namespace

int64_t shared_bytes::sequential(const Sizes& sizes) { return bytes_of_tokens(sizes, 1); }
int64_t shared_bytes::sequential_persistent(const Sizes& sizes) {
    return bytes_of_tokens(sizes, sizes.length);
}
int64_t shared_bytes::tnt(const Sizes& sizes) { return bytes_of_tokens(sizes, sizes.local_tokens); }
int64_t shared_bytes::associative_scan(const Sizes& sizes) { return tree_shared_bytes(sizes); }
int64_t shared_bytes::frozen(const Sizes& sizes) {
    return sizes.rule->is(State::slots) ? lattice_shared_bytes(sizes, true, true) : 0;
}

std::optional<std::string> check_shared_bytes(const Sizes& sizes, int64_t bytes, const Chip& chip) {
    if (bytes <= chip.shared_bytes_per_block) return {};
    return fmt::format("{} needs {} of shared memory per thread block; {} has {}: choose a smaller value",
                       largest_of(sizes), short_bytes(static_cast<double>(bytes)), chip.name,
                       short_bytes(static_cast<double>(chip.shared_bytes_per_block)));
}

cuda::KernelSource kernel(const std::string& name, int64_t threads, int64_t shared_bytes,
                          cuda::Defines defines) {
    return {"kernels/memory/cuda/" + name + ".cu", name, std::move(defines), threads, shared_bytes};
}

Arguments arguments_of(const Tensors& t) {
    const auto passed = [](const PassedBuffers& state) -> PassedState {
        return {state.from.as<float>(), state.to.as<float>(), state.live.as<float>()};
    };
    return {.k = t.k.address,
            .v = t.v.address,
            .q = t.q.address,
            .x = t.x.address,
            .y = static_cast<std::byte*>(t.y.address) + t.y_first * bytes_of(t.storage),
            .y_stride = t.y_stride,
            .m = passed(t.m),
            .s = passed(t.s),
            .boundaries = t.boundaries.as<float>(),
            .chunk = t.chunk,
            .boundary_count = t.boundary_count,
            .gates = {t.alpha.as<float>(), t.eta.as<float>(), t.theta.as<float>(), t.lambda_k, t.share(),
                      t.omega_windows.as<int32_t>()},
            .lambda_values = t.lambda_v,
            .w_omega = t.w_omega.as<float>(),
            .length = t.length,
            .first = 0,
            .last = t.length};
}

void narrow(Arguments& all, Range tokens) {
    all.first = tokens.first;
    all.last = tokens.last;
    for (PassedState* state : {&all.m, &all.s}) {
        if (all.first > 0) state->from = state->live;
        if (all.last < all.length) state->to = state->live;
    }
}

void launch_steps(cuda::PlanBuilder& builder, const Tensors& given, int64_t tokens, const Grid& grid,
                  const cuda::KernelSource& source) {
    Tensors t = given;
    const bool is_one = tokens == t.length;
    if (!is_one) {
        t.m.live = builder.take("m between launches", {t.batch, t.state_rows(), t.d});
        if (t.passes_s) t.s.live = builder.take("s between launches", {t.batch, t.d, t.state_rows()});
    }
    builder.launch_steps(is_one ? launches::tokens(t, {0, tokens}) : launches::token(t), grid, source,
                         ceil_divide(t.length, tokens), [all = arguments_of(t), tokens](int64_t step) {
                             Arguments mine = all;
                             const int64_t first = step * tokens;
                             narrow(mine, {first, std::min(first + tokens, all.length)});
                             return mine;
                         });
}

TilingArguments arguments_of(const TiledRange& tiling, int64_t halo) {
    const Range tokens = tiling.tokens();
    return {tokens.first,
            tokens.last,
            tiling.chunk(),
            std::max<int64_t>(tokens.first - halo, 0),
            static_cast<int>(tiling.tile()),
            static_cast<int>(tiling.tiles_a_chunk()),
            static_cast<int>(tiling.count()),
            static_cast<int>(halo)};
}

Grid tile_grid(const TiledRange& tiling, int64_t batch) {
    return {side("tiles", tiling.count()), side("B", batch)};
}

void add_sequential(cuda::PlanBuilder& builder, const Tensors& t) { add_tokens(builder, t, 1); }

void add_sequential_persistent(cuda::PlanBuilder& builder, const Tensors& t) {
    add_tokens(builder, t, t.length);
}

void add_chunkwise_gd(cuda::PlanBuilder& builder, const Tensors& t) {
    switch (t.rule->state) {
        case State::matrix:
            return add_matrix_tiles(builder, t, false);
        case State::slots:
            return add_frozen_slots(builder, t, "sums");
        case State::trellis:
            return add_trellis_tiles(builder, t, false);
    }
}

void add_exact_chunk(cuda::PlanBuilder& builder, const Tensors& t) { add_matrix_tiles(builder, t, true); }

void add_lattice_gla(cuda::PlanBuilder& builder, const Tensors& t) {
    if (t.rule->is(State::slots))
        add_frozen_slots(builder, t, "linearised");
    else
        add_trellis_tiles(builder, t, true);
}

void add_pulse(cuda::PlanBuilder& builder, const Tensors& level, const Buffer& pulse, int64_t first) {
    constexpr int64_t threads = 256;
    builder.launch(launches::pulse(pulse), Grid{.x = pieces("L", level.length, threads)},
                   kernel("pulse", threads, 0),
                   PulseArguments{pulse.as<int32_t>() + first, level.length, level.chunk});
}

std::optional<std::string> check_on_cuda(const Parameters& parameters, const Chip& chip) {
    if (parameters.integer("d") > widest)
        return fmt::format("d = {}: must be up to {} on a GPU, where registers hold a row",
                           parameters.integer("d"), widest);
    if (parameters.is("launch", "graph_pdl") && chip.compute_capability < 90)
        return "launch = graph_pdl: " + chip.name +
               " has no programmatic dependent launch (needs compute capability 9.0); choose sync, "
               "stream or graph";
    return {};
}

}  // namespace sawtooth::memory

// The launches of a strategy for each kind of state, and the limits of a chip.

#include "kernels/memory/cuda/strategies.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/table.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t widest = 128;  // largest d: a row must fit in registers and shared memory

void add_tokens(cuda::PlanBuilder& builder, const Job& job, int64_t tokens) {
    switch (job.rule->state) {
        case State::matrix:
            return add_matrix_steps(builder, job, tokens);
        case State::slots:
            return add_slot_steps(builder, job, tokens);
        case State::trellis:
            return add_trellis_steps(builder, job, tokens);
    }
}

int64_t bytes_of_tokens(const Job& job, int64_t tokens) {
    switch (job.rule->state) {
        case State::matrix:
            return exact_shared_bytes(job, tokens);
        case State::slots:
            return lattice_shared_bytes(job, false, true);
        case State::trellis:
            return 0;  // every accepted size fits
    }
    return 0;
}

// The parameter that decides the shared memory of a thread block.
std::string largest_of(const Job& job) {
    if (job.rule->is(State::slots)) return "slot_count = " + std::to_string(job.slot_count);
    return job.rule->is_windowed ? "omega_window = " + std::to_string(job.omega_window)
                                 : "d = " + std::to_string(job.d);
}

}  // namespace

int64_t shared_bytes::sequential(const Job& job) { return bytes_of_tokens(job, 1); }
int64_t shared_bytes::sequential_persistent(const Job& job) { return bytes_of_tokens(job, job.length); }
int64_t shared_bytes::tnt(const Job& job) { return exact_shared_bytes(job, job.local_tokens); }
int64_t shared_bytes::associative_scan(const Job& job) { return tree_shared_bytes(job); }
int64_t shared_bytes::frozen(const Job& job) {
    return job.rule->is(State::slots) ? lattice_shared_bytes(job, true, true) : 0;
}

std::optional<std::string> check_shared_bytes(const Job& job, int64_t bytes, const Chip& chip) {
    if (bytes <= chip.shared_bytes_per_block) return {};
    return fmt::format("{} needs {} of shared memory per thread block; {} has {}: choose a smaller value",
                       largest_of(job), short_bytes(static_cast<double>(bytes)), chip.name,
                       short_bytes(static_cast<double>(chip.shared_bytes_per_block)));
}

cuda::KernelSource kernel(const std::string& name, int64_t threads, int64_t shared_bytes,
                          cuda::Defines defines) {
    return {"kernels/memory/cuda/" + name + ".cu", name, std::move(defines), threads, shared_bytes};
}

TokenArguments token_arguments(const Job& job) {
    return {job, job, job.gates, job.length, 0, job.length};  // vectors and states of the job
}

void take_live(cuda::PlanBuilder& builder, const Job& job, TokenArguments& all) {
    const int64_t numbers = job.batch * job.state_rows() * job.d;
    all.m.live = builder.take<float>(numbers);
    if (job.rule->has_second_state()) all.s.live = builder.take<float>(numbers);
}

void narrow(TokenArguments& all, Range tokens) {
    all.first = tokens.first;
    all.last = tokens.last;
    for (PassedState* state : {&all.m, &all.s}) {
        if (all.first > 0) state->from = state->live;
        if (all.last < all.length) state->to = state->live;
    }
}

TilingArguments arguments_of(const Tiling& tiling, int64_t halo) {
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

Grid tile_grid(const Tiling& tiling, int64_t batch) {
    return {side("tiles", tiling.count()), side("B", batch)};
}

void add_sequential(cuda::PlanBuilder& builder, const Job& job) { add_tokens(builder, job, 1); }

void add_sequential_persistent(cuda::PlanBuilder& builder, const Job& job) {
    add_tokens(builder, job, job.length);
}

void add_chunkwise_gd(cuda::PlanBuilder& builder, const Job& job) {
    switch (job.rule->state) {
        case State::matrix:
            return add_matrix_tiles(builder, job, false);
        case State::slots:
            return add_frozen_slots(builder, job, "sums");
        case State::trellis:
            return add_trellis_tiles(builder, job);
    }
}

void add_exact_chunk(cuda::PlanBuilder& builder, const Job& job) { add_matrix_tiles(builder, job, true); }

void add_lattice_gla(cuda::PlanBuilder& builder, const Job& job) {
    add_frozen_slots(builder, job, "linearised");
}

void add_pulse(cuda::PlanBuilder& builder, const Job& level, int32_t* to) {
    constexpr int64_t threads = 256;
    builder.launch(describe::pulse(level.length), Grid{.x = pieces("L", level.length, threads)},
                   kernel("pulse", threads, 0), PulseArguments{to, level.length, level.chunk});
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

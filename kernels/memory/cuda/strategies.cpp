// Which launches a strategy makes of each kind of state, and what a chip has no room for.

#include "kernels/memory/cuda/strategies.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/table.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t widest = 128;  // d: registers and shared memory hold a row

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

std::optional<std::string> check_shared(const std::string& what, int64_t bytes, const Chip& chip) {
    if (bytes <= chip.shared_bytes_per_block) return {};
    return fmt::format("{} takes {} of shared memory a thread block, where {} has {}; choose a smaller one",
                       what, short_bytes(static_cast<double>(bytes)), chip.name,
                       short_bytes(static_cast<double>(chip.shared_bytes_per_block)));
}

// What makes a group of tokens large.
std::optional<std::string> check_rows(const Job& job, int64_t bytes, const Chip& chip) {
    return check_shared(job.rule->is_windowed ? "omega_window = " + std::to_string(job.window)
                                              : "d = " + std::to_string(job.d),
                        bytes, chip);
}

std::optional<std::string> check_slots(const Job& job, bool is_frozen, const Chip& chip) {
    return check_shared("slot_count = " + std::to_string(job.slot_count),
                        lattice_shared_bytes(job, is_frozen, true), chip);
}

std::optional<std::string> check_tokens(const Job& job, int64_t tokens, const Chip& chip) {
    if (job.rule->is(State::slots)) return check_slots(job, false, chip);
    if (job.rule->is(State::trellis)) return {};
    return check_rows(job, exact_shared_bytes(job, tokens), chip);
}

}  // namespace

GateArguments arguments_of(const Gates& gates) {
    return {gates.alpha, gates.eta, gates.theta, gates.lambda, gates.share};
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
    return {side("ceil(L / tile)", tiling.count()), side("B", batch)};
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
                   {.file = "kernels/memory/cuda/pulse.cu", .entry = "pulse", .threads = threads},
                   PulseArguments{to, level.length, level.chunk});
}

std::optional<std::string> check_on_cuda(const Parameters& parameters, const Chip& chip) {
    if (parameters.integer("d") > widest)
        return fmt::format("d = {}: accepted on a GPU is up to {}, as registers and shared memory hold a row",
                           parameters.integer("d"), widest);
    if (parameters.is("launch", "graph_pdl") && chip.compute_capability < 90)
        return "launch = graph_pdl: " + chip.name +
               " has no programmatic dependent launch (compute capability 9.0 and up); accepted are sync, "
               "stream, graph";
    return {};
}

std::optional<std::string> check_sequential(const Job& job, const Chip& chip) {
    return check_tokens(job, 1, chip);
}

std::optional<std::string> check_sequential_persistent(const Job& job, const Chip& chip) {
    return check_tokens(job, job.length, chip);
}

std::optional<std::string> check_chunkwise_gd(const Job& job, const Chip& chip) {
    return job.rule->is(State::slots) ? check_slots(job, true, chip) : std::nullopt;
}

std::optional<std::string> check_associative_scan(const Job& job, const Chip& chip) {
    return check_rows(job, tree_shared_bytes(job), chip);
}

std::optional<std::string> check_tnt(const Job& job, const Chip& chip) {
    return check_rows(job, exact_shared_bytes(job, job.local_tokens), chip);
}

std::optional<std::string> check_lattice_gla(const Job& job, const Chip& chip) {
    return check_slots(job, true, chip);
}

}  // namespace sawtooth::memory

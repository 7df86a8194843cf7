// The launches of the five variants: which kernel, with which macros, on which grid. What they compute stands
// in the .cu files of this folder.

#include <algorithm>

#include "kernels/cuda/plan_builder.h"
#include "kernels/scan/arguments.cuh"
#include "kernels/scan/steps.h"
#include "kernels/scan/tiles_cuda.h"

namespace sawtooth::scan {
namespace {

using cuda::Defines;
using cuda::KernelSource;

constexpr int64_t strip_threads = 256;

// In operators.cuh, in the order of the enumeration.
constexpr const char* device_names[] = {"sum", "product", "maximum", "minimum", "linear", "compensated_sum"};

KernelSource source_of(const std::string& file, const std::string& entry, const Job& job, int64_t threads,
                       Defines tiling = {}, int64_t shared_bytes = 0) {
    Defines defines = {{"OP", device_names[static_cast<size_t>(job.op)]},
                       {"X", name_of(job.storage)},
                       {"Y", name_of(job.y_storage)},
                       {"BLOCK_SIZE", job.block_size},
                       {"FLIPPED", job.flipped}};
    std::move(tiling.begin(), tiling.end(), std::back_inserter(defines));
    return {"kernels/scan/" + file, entry, std::move(defines), threads, shared_bytes};
}

device_side::Scan arguments_of(const Job& job) {
    const bool is_linear = job.op == Operator::linear;
    return {{{is_linear ? job.a : job.x, is_linear ? job.x : nullptr}},
            job.initial,
            job.y,
            job.length,
            job.channels,
            job.batch};
}
device_side::States on_device(const States& states) { return {{states.plane[0], states.plane[1]}}; }

// Kernels of strips.cuh: LANES columns side by side, block_size of `rows` rows a thread block.
int64_t strip_lanes(const Job& job) { return std::min<int64_t>(power_of_two_from(job.channels), 32); }
KernelSource strip_source(const std::string& file, const std::string& entry, const Job& job) {
    return source_of(file, entry, job, strip_threads, {{"LANES", strip_lanes(job)}});
}
Grid strip_grid(const Job& job, const std::string& name, int64_t rows) {
    return {side("B", job.batch) * pieces(name, rows, "block_size", job.block_size),
            pieces("D", job.channels, strip_lanes(job))};
}

KernelSource columns_source(const std::string& file, const std::string& entry, const Job& job,
                            const ColumnTile& tile) {
    return source_of(file, entry, job, 32 * tile.warps,
                     {{"VECTOR", tile.vector},
                      {"UNITS", tile.units},
                      {"WARPS", tile.warps},
                      {"SHARED_ROWS", tile.shared_rows},
                      {"MIN_BLOCKS", tile.min_blocks}},
                     tile.shared_bytes);
}

// Kernels of rows.cuh, D = 1: a warp a tile.
KernelSource rows_source(const std::string& file, const std::string& entry, const Job& job, int64_t warps) {
    const int vector = job.length % 4 == 0 ? 4 : 1;
    return source_of(file, entry, job, 32 * warps, {{"VECTOR", vector}, {"WARPS", warps}});
}

}  // namespace

void add_sequential(cuda::PlanBuilder& builder, const Job& job) {
    constexpr int64_t threads = 32;
    const Side columns = pieces("(B * D)", job.batch * job.channels, threads);
    builder.launch(describe_sequential(job), {columns},
                   source_of("sequential.cu", "sequential", job, threads), arguments_of(job));
}

void add_hillis_steele(cuda::PlanBuilder& builder, const Job& job) {
    for (Doubling& step : doubling_steps(builder, job)) {
        const char* const entry = step.is_first && step.is_last ? "double_only"
                                  : step.is_first               ? "double_first"
                                  : step.is_last                ? "double_last"
                                                                : "double_middle";
        const device_side::Doubling given = {arguments_of(job), on_device(step.from), on_device(step.to),
                                             step.reach};
        builder.launch(std::move(step.info), strip_grid(job, "L", job.length),
                       strip_source("hillis_steele.cu", entry, job), given);
    }
}

void add_blelloch(cuda::PlanBuilder& builder, const Job& job) {
    for (Sweep& sweep : sweep_steps(builder, job)) {
        const std::string entry =
            std::string(sweep.is_up ? "up_sweep" : "down_sweep") + (sweep.is_leaf ? "_leaves" : "");
        const device_side::Sweep given = {arguments_of(job), on_device(sweep.of_parents),
                                          on_device(sweep.of_children), sweep.parents, sweep.children};
        builder.launch(std::move(sweep.info),
                       strip_grid(job, "ceil(L / 2^" + std::to_string(sweep.height) + ")", sweep.parents),
                       strip_source("blelloch.cu", entry, job), given);
    }
}

namespace {

void add_block_scan(cuda::PlanBuilder& builder, const Job& job, LaunchInfo info,
                    const device_side::Phases& given) {
    const Side blocks = side("B", job.batch) * pieces("L", job.length, "block_size", job.block_size);
    if (job.channels == 1) {
        constexpr int64_t warps = 4;
        builder.launch(std::move(info), {pieces("(" + blocks.formula + ")", blocks.count, warps)},
                       rows_source("three_phase_rows.cu", "block_scan", job, warps), given);
        return;
    }
    const ColumnTile tile = column_tile(job, builder.chip());
    builder.launch(std::move(info), {blocks, pieces("D", job.channels, tile.width())},
                   columns_source("three_phase_columns.cu", "block_scan", job, tile), given);
}

}  // namespace

void add_three_phase(cuda::PlanBuilder& builder, const Job& job) {
    Phases phases = three_phases(builder, job);
    const device_side::Phases given = {arguments_of(job), on_device(phases.local), on_device(phases.totals),
                                       job.blocks()};
    add_block_scan(builder, job, std::move(phases.block_scan), given);
    const int64_t units = strip_lanes(job);
    const auto source = [&](const std::string& entry, int64_t threads) {
        return source_of("three_phase.cu", entry, job, threads, {{"LANES", units}, {"UNITS", units}});
    };
    builder.launch(std::move(phases.block_sums), {side("B", job.batch), pieces("D", job.channels, units)},
                   source("scan_of_block_sums", 512), given);
    builder.launch(std::move(phases.add_prefixes), strip_grid(job, "L", job.length),
                   source("add_block_prefixes", strip_threads), given);
}

namespace {

// Tickets and what tiles publish (lookback.cuh): a flag with one float in 8 bytes, or with two in 16.
device_side::Lookback lookback_arguments(cuda::PlanBuilder& builder, const Job& job, int64_t states) {
    auto* const counter = builder.take_zeroed<unsigned long long>(1);
    return {arguments_of(job), counter,
            builder.take_zeroed<std::byte>(states * (planes_of(job.op) == 1 ? 8 : 16))};
}

void add_lookback_of_columns(cuda::PlanBuilder& builder, const Job& job) {
    const ColumnTile tile = column_tile(job, builder.chip());
    const Side tiles = pieces("L", job.length, "block_size", job.block_size) * side("B", job.batch) *
                       pieces("D", job.channels, tile.width());
    builder.launch(describe_lookback(job), {tiles},
                   columns_source("lookback_columns.cu", "lookback", job, tile),
                   lookback_arguments(builder, job, tiles.count * tile.width()));
}

void add_lookback_of_rows(cuda::PlanBuilder& builder, const Job& job) {
    const int64_t warps = std::min<int64_t>(power_of_two_from(job.blocks()), 8);
    const Side stretches =
        pieces("L", job.length, "(" + std::to_string(warps) + " * block_size)", warps * job.block_size) *
        side("B", job.batch);
    builder.launch(describe_lookback(job), {stretches},
                   rows_source("lookback_rows.cu", "lookback", job, warps),
                   lookback_arguments(builder, job, stretches.count));
}

void add_walk_of_rows(cuda::PlanBuilder& builder, const Job& job) {
    constexpr int64_t warps = 4;
    LaunchInfo info = describe_lookback(job);
    info.meaning = "Walks every row tile after tile, one warp a row: the prefix is handed on in a register.";
    builder.launch(std::move(info), {pieces("B", job.batch, warps)},
                   rows_source("lookback_chains.cu", "lookback", job, warps), arguments_of(job));
}

}  // namespace

void add_lookback(cuda::PlanBuilder& builder, const Job& job) {
    if (job.channels > 1)
        add_lookback_of_columns(builder, job);
    else if (walks_rows(job, builder.chip()))
        add_walk_of_rows(builder, job);
    else
        add_lookback_of_rows(builder, job);
}

namespace {

device_side::Gradients gradient_arguments(const Job& forward, const GateGradients& gradients) {
    return {forward.a,    gradients.shifted,  forward.y,      gradients.g,     forward.initial,
            gradients.da, gradients.dinitial, forward.length, forward.channels};
}

}  // namespace

void add_shift_gates(cuda::PlanBuilder& builder, const Job& forward, const GateGradients& gradients) {
    builder.launch(describe_shift_gates(forward), strip_grid(forward, "L", forward.length),
                   strip_source("gradients.cu", "shift_gates", forward),
                   gradient_arguments(forward, gradients));
}

void add_gate_gradient(cuda::PlanBuilder& builder, const Job& forward, const GateGradients& gradients) {
    builder.launch(describe_gate_gradient(forward, gradients), strip_grid(forward, "L", forward.length),
                   strip_source("gradients.cu", "gate_gradient", forward),
                   gradient_arguments(forward, gradients));
}

}  // namespace sawtooth::scan

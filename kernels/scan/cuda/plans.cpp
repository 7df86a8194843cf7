// How each launch maps to a GPU: the kernel, its macros and its grid. The .cu files of this folder say what
// the kernels compute.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/scan/cuda/tiles.h"
#include "kernels/scan/job.h"

namespace sawtooth::scan {
namespace {

using cuda::Defines;
using cuda::KernelSource;

constexpr int64_t strip_threads = 256;

// The names of operators.cuh, in the order of the enumeration.
constexpr const char* device_names[] = {"sum",          "product",         "maximum",        "minimum",
                                        "linear",       "compensated_sum", "complex_linear", "log_sum_exp",
                                        "segmented_sum"};

Scan scan_arguments(const Job& job) {
    Inputs in = {};
    for (size_t plane = 0; plane < job.in.size(); ++plane) in.plane[plane] = job.in[plane].address;
    return {in, job.initial.as<float>(), job.y.address, job.batch, job.length, job.channels};
}

KernelSource source_of(const std::string& file, const std::string& entry, const Job& job, int64_t threads,
                       Defines tiling = {}, int64_t shared_bytes = 0) {
    Defines defines = {{"OP", device_names[static_cast<size_t>(job.op)]},
                       {"X", name_of(job.storage())},
                       {"Y", name_of(job.y.storage)},
                       {"BLOCK_SIZE", job.block_size},
                       {"FLIPPED", job.flipped}};
    std::move(tiling.begin(), tiling.end(), std::back_inserter(defines));
    return {"kernels/scan/cuda/" + file, entry, std::move(defines), threads, shared_bytes};
}

// The kernels of strips.cuh, where a thread block processes block_size of `rows` rows.
KernelSource strip_source(const std::string& file, const std::string& entry, const Job& job,
                          Defines more = {}) {
    more.push_back({"LANES", strip_lanes(job.channels)});
    return source_of(file, entry, job, strip_threads, std::move(more));
}
Grid strip_grid(const Job& job, const std::string& name, int64_t rows) {
    return {job.blocks_of(name, rows), pieces("D", job.channels, strip_lanes(job.channels))};
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

// Whether the kernels of rows.cuh run: a single column, of floats, since complex numbers would not fit in the
// registers of a warp.
bool is_row(const Job& job) { return job.channels == 1 && !pairs_columns(job.op); }

// The kernels of rows.cuh, with one warp per tile.
KernelSource rows_source(const std::string& file, const std::string& entry, const Job& job, int64_t warps) {
    return source_of(file, entry, job, 32 * warps, {{"VECTOR", vector_of_row(job.length)}, {"WARPS", warps}});
}

void add(cuda::PlanBuilder& builder, const Stage& stage, Sequential) {
    constexpr int64_t threads = 32;
    const Job& job = stage.job;
    builder.launch(stage.info, {pieces("(B * D)", job.batch * job.channels, threads)},
                   source_of("sequential.cu", "sequential", job, threads), scan_arguments(job));
}

void add(cuda::PlanBuilder& builder, const Stage& stage, const Doubling& doubling) {
    const char* const entry = doubling.is_first && doubling.is_last ? "double_only"
                              : doubling.is_first                   ? "double_first"
                              : doubling.is_last                    ? "double_last"
                                                                    : "double_middle";
    builder.launch(stage.info, strip_grid(stage.job, "L", stage.job.length),
                   strip_source("hillis_steele.cu", entry, stage.job),
                   Given<Doubling>{scan_arguments(stage.job), doubling});
}

void add(cuda::PlanBuilder& builder, const Stage& stage, const TreeSweep& sweep) {
    const std::string entry =
        std::string(sweep.is_up ? "up_sweep" : "down_sweep") + (sweep.is_leaf ? "_leaves" : "");
    const std::string parents = "ceil(L / 2^" + std::to_string(sweep.height) + ")";
    builder.launch(stage.info, strip_grid(stage.job, parents, sweep.parent_count),
                   strip_source("blelloch.cu", entry, stage.job),
                   Given<TreeSweep>{scan_arguments(stage.job), sweep});
}

KernelSource phase_source(const std::string& entry, const Job& job, int64_t threads) {
    return source_of("three_phase.cu", entry, job, threads,
                     {{"LANES", strip_lanes(job.channels)}, {"UNITS", strip_lanes(job.channels)}});
}

void add(cuda::PlanBuilder& builder, const Stage& stage, const BlockScan& phases) {
    const Job& job = stage.job;
    const Side blocks = job.blocks_of("L", job.length);
    if (is_row(job)) {
        constexpr int64_t warps = 4;
        return builder.launch(stage.info, {pieces("(" + blocks.formula + ")", blocks.count, warps)},
                              rows_source("three_phase_rows.cu", "block_scan", job, warps),
                              Given<Phases>{scan_arguments(job), phases});
    }
    const ColumnTile tile = column_tile(job, builder.chip());
    builder.launch(stage.info, {blocks, pieces("D", job.channels, tile.width())},
                   columns_source("three_phase_columns.cu", "block_scan", job, tile),
                   Given<Phases>{scan_arguments(job), phases});
}

void add(cuda::PlanBuilder& builder, const Stage& stage, const BlockSums& phases) {
    const Job& job = stage.job;
    builder.launch(stage.info, {side("B", job.batch), pieces("D", job.channels, strip_lanes(job.channels))},
                   phase_source("scan_of_block_sums", job, threads_of_totals),
                   Given<Phases>{scan_arguments(job), phases});
}

void add(cuda::PlanBuilder& builder, const Stage& stage, const AddPrefixes& phases) {
    builder.launch(stage.info, strip_grid(stage.job, "L", stage.job.length),
                   phase_source("add_block_prefixes", stage.job, strip_threads),
                   Given<Phases>{scan_arguments(stage.job), phases});
}

// Adds the memory for tickets and published states (lookback.cuh): a flag and a float take 8 bytes, a flag
// and two floats 16, two flags and two complex numbers 32.
Given<LookbackBoard> lookback_arguments(cuda::PlanBuilder& builder, const Job& job, int64_t states) {
    const int64_t bytes = states * (pairs_columns(job.op) ? 32 : planes_of(job.op) == 1 ? 8 : 16);
    return {scan_arguments(job),
            {builder.take_zeroed<unsigned long long>(1), builder.take_zeroed<std::byte>(bytes)}};
}

void add_lookback_of_columns(cuda::PlanBuilder& builder, const Stage& stage) {
    const Job& job = stage.job;
    const ColumnTile tile = column_tile(job, builder.chip());
    const Side tiles = pieces("L", job.length, "block_size", job.block_size) * side("B", job.batch) *
                       pieces("D", job.channels, tile.width());
    KernelSource source = columns_source("lookback_columns.cu", "lookback", job, tile);
    source.defines.push_back({"AHEAD", tile.ahead});
    builder.launch(stage.info, {tiles}, source, lookback_arguments(builder, job, tiles.count * tile.width()));
}

void add_lookback_of_rows(cuda::PlanBuilder& builder, const Stage& stage) {
    const Job& job = stage.job;
    const RowChunk chunk = row_chunk(job, builder.chip());
    const int64_t tiles = chunk.warps * chunk.tiles;
    const Side chunks =
        pieces("L", job.length, fmt::format("({} * block_size)", tiles), tiles * job.block_size) *
        side("B", job.batch);
    const int64_t groups = job.batch * ceil_divide(chunks.count / job.batch, chunks_of_group);
    builder.launch(stage.info, {chunks},
                   source_of("lookback_rows.cu", "lookback", job, 32 * chunk.warps,
                             {{"VECTOR", chunk.vector}, {"WARPS", chunk.warps}, {"TILES", chunk.tiles}},
                             chunk.shared_bytes),
                   lookback_arguments(builder, job, chunks.count + groups));
}

void add_walk_of_rows(cuda::PlanBuilder& builder, const Stage& stage) {
    constexpr int64_t warps = 4;
    LaunchInfo info = stage.info;
    info.meaning = "Walks every row tile by tile, one warp per row; the prefix stays in a register.";
    builder.launch(std::move(info), {pieces("B", stage.job.batch, warps)},
                   rows_source("lookback_chains.cu", "lookback", stage.job, warps),
                   scan_arguments(stage.job));
}

void add(cuda::PlanBuilder& builder, const Stage& stage, Lookback) {
    if (!is_row(stage.job))
        add_lookback_of_columns(builder, stage);
    else if (walks_rows(stage.job, builder.chip()))
        add_walk_of_rows(builder, stage);
    else
        add_lookback_of_rows(builder, stage);
}

template <class What>
void add_gradient(cuda::PlanBuilder& builder, const Stage& stage, const char* entry, const What& what,
                  bool adds) {
    builder.launch(stage.info, strip_grid(stage.job, "L", stage.job.length),
                   strip_source("gradients.cu", entry, stage.job, {{"ADDS", adds}}),
                   Given<What>{scan_arguments(stage.job), what});
}
void add(cuda::PlanBuilder& builder, const Stage& stage, const ShiftGates& shift) {
    add_gradient(builder, stage, "shift_gates", shift, false);
}
void add(cuda::PlanBuilder& builder, const Stage& stage, const OutputGates& gates) {
    add_gradient(builder, stage, "output_gates", gates, false);
}
void add(cuda::PlanBuilder& builder, const Stage& stage, const GateGradient& gradient) {
    add_gradient(builder, stage, "gate_gradient", gradient, gradient.adds);
}
void add(cuda::PlanBuilder& builder, const Stage& stage, const InputGradient& gradient) {
    add_gradient(builder, stage, "input_gradient", gradient, gradient.adds);
}

// On a GPU a column of a complex operator is a whole number.
Stage with_whole_columns(Stage stage) {
    if (pairs_columns(stage.job.op)) stage.job.channels /= 2;
    return stage;
}

}  // namespace

void launch(cuda::PlanBuilder& builder, const Stage& stage) {
    std::visit([&](const auto& what) { add(builder, with_whole_columns(stage), what); }, stage.what);
}

}  // namespace sawtooth::scan

// The launches of the five variants: which kernel, with which macros, on which grid. What they compute stands
// in the .cu files of this folder.

#include "kernels/scan/cuda.h"

#include <algorithm>
#include <bit>

#include "kernels/scan/cpu.h"

namespace sawtooth::scan {
namespace {

using cuda::Kernel;
using cuda::PlanBuilder;
using cuda::Source;
using cuda::Storage;
using Defines = std::vector<std::pair<std::string, std::string>>;

constexpr int64_t strip_threads = 256;  // strips.cuh

int64_t ceil_divide(int64_t count, int64_t by) { return (count + by - 1) / by; }
int64_t power_of_two_from(int64_t count) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)));
}

int64_t elements_of(const DeviceJob& job) { return job.batch * job.length * job.channels; }
int64_t blocks_of(const DeviceJob& job) { return ceil_divide(job.length, job.block_size); }
Shape shape_of(const DeviceJob& job) { return {job.batch, job.length, job.channels}; }

std::vector<ArrayUse> inputs_of(const DeviceJob& job) {
    std::vector<ArrayUse> uses;
    if (job.op == Operator::linear) uses.push_back({job.a_name, shape_of(job)});
    uses.push_back({job.x_name, shape_of(job)});
    if (job.has_initial) uses.push_back({"initial", {job.batch, job.channels}});
    return uses;
}

double operations_a_combine(Operator op) {
    return op == Operator::linear ? 3 : op == Operator::compensated_sum ? 8 : 1;
}
double input_bytes(const DeviceJob& job) {
    return static_cast<double>(elements_of(job) * bytes_of(job.storage, Dtype::f32) *
                               input_planes_of(job.op));
}
double output_bytes(const DeviceJob& job) {
    return static_cast<double>(elements_of(job) * bytes_of(job.y_storage, Dtype::f32));
}
double state_bytes(const DeviceJob& job, int64_t states) {
    return static_cast<double>(states * 4 * planes_of(job.op));
}

// The names of operators.cuh and words.cuh.
const char* name_of(Operator op) {
    switch (op) {
        case Operator::product:
            return "product";
        case Operator::maximum:
            return "maximum";
        case Operator::minimum:
            return "minimum";
        case Operator::linear:
            return "linear";
        case Operator::compensated_sum:
            return "compensated_sum";
        default:
            return "sum";
    }
}
const char* name_of(Storage storage) {
    return storage == Storage::f16 ? "f16" : storage == Storage::bf16 ? "bf16" : "f32";
}

Source source_of(const std::string& file, const DeviceJob& job, Defines tiling = {}) {
    Defines defines = {{"OP", name_of(job.op)},
                       {"X", name_of(job.storage)},
                       {"Y", name_of(job.y_storage)},
                       {"BLOCK_SIZE", std::to_string(job.block_size)},
                       {"FLIPPED", job.flipped ? "true" : "false"}};
    std::move(tiling.begin(), tiling.end(), std::back_inserter(defines));
    return {"kernels/scan/" + file, std::move(defines)};
}

// The inputs as the kernels take them: gates and values of linear, else values alone.
struct Inputs {
    const void *plane_0, *plane_1;
};
Inputs planes_of(const DeviceJob& job) {
    return job.op == Operator::linear ? Inputs{job.a, job.x} : Inputs{job.x, nullptr};
}

struct DeviceStates {
    float *plane_0 = nullptr, *plane_1 = nullptr;
};
DeviceStates take_states(PlanBuilder& builder, Operator op, int64_t count) {
    DeviceStates states;
    states.plane_0 = builder.take<float>(count);
    if (planes_of(op) == 2) states.plane_1 = builder.take<float>(count);
    return states;
}

// Columns that a thread block of strips.cuh covers, and its grid over `rows` rows.
int64_t strip_lanes(const DeviceJob& job) { return std::min<int64_t>(power_of_two_from(job.channels), 32); }
Defines strip_defines(const DeviceJob& job) { return {{"LANES", std::to_string(strip_lanes(job))}}; }
Extent strip_grid(const DeviceJob& job, int64_t rows) {
    return {job.batch * ceil_divide(rows, job.block_size), ceil_divide(job.channels, strip_lanes(job)), 1};
}
std::string strip_formula(const DeviceJob& job, const std::string& rows) {
    return "B * ceil(" + rows + " / block_size), ceil(D / " + std::to_string(strip_lanes(job)) + ")";
}

LaunchInfo info_of(const DeviceJob& job, std::string name, std::string meaning, std::string formula,
                   double bytes, double combines) {
    LaunchInfo info;
    info.name = job.prefix + name;
    info.meaning = std::move(meaning);
    info.grid_formula = std::move(formula);
    info.work = {bytes, combines * operations_a_combine(job.op)};
    return info;
}

}  // namespace

// Chosen on an H100, [4, 8192, 512] and [4, 2048, 512]: rows of a tile narrower than 128 bytes cost half of
// the bandwidth, and few warps with many rows each are better than many with few, even where half of the rows
// lie in shared memory.
ColumnTile column_tile(const DeviceJob& job, const Chip& chip) {
    constexpr int64_t row_bytes = 128, sector_bytes = 32;
    constexpr int64_t kept_registers = 64, most_rows = 32, most_warps = 16;
    constexpr int64_t most_totals_bytes = 16 << 10;  // in shared memory too
    const int64_t planes = input_planes_of(job.op), word = bytes_of(job.storage, Dtype::f32);
    ColumnTile tile{};
    tile.vector = job.channels % 4 == 0 ? 4 : job.channels % 2 == 0 ? 2 : 1;
    tile.units = std::min(
        {power_of_two_from(job.channels / tile.vector), row_bytes / (tile.vector * word), int64_t{32}});
    const int64_t row_registers = std::max<int64_t>(tile.vector * word / 4, 1);  // a plane
    const int64_t fitting_rows = std::min(kept_registers / row_registers, most_rows);
    const int64_t rows = planes == 1 && job.block_size == 1024 ? most_rows : fitting_rows;
    const int64_t own_rows = std::min(kept_registers / row_registers / planes, most_rows);
    while (true) {
        const int64_t stacked = job.block_size * tile.units / 32;  // rows of all warps' threads together
        const bool is_narrow = tile.width() * word < sector_bytes;
        tile.warps =
            is_narrow ? std::min<int64_t>(stacked, 8) : std::clamp<int64_t>(stacked / rows, 1, most_warps);
        tile.shared_rows = std::max<int64_t>(stacked / tile.warps - own_rows, 0);
        tile.shared_bytes = tile.shared_rows * planes * tile.vector * word * 32 * tile.warps;
        const bool fits = tile.shared_bytes + most_totals_bytes <= chip.shared_bytes_per_block;
        const bool copied = tile.vector * word >= 4;  // two bytes alone cannot be copied past the registers
        if (tile.shared_rows == 0 || (fits && copied)) break;
        tile.units /= 2;
    }
    tile.min_blocks = std::max<int64_t>(most_warps / tile.warps, 1);
    return tile;
}

int64_t row_vector(const DeviceJob& job) { return job.length % 4 == 0 ? 4 : 1; }

bool walks_rows(const DeviceJob& job, const Chip& chip) {
    // Warps that together keep memory busy while each waits for its own loads.
    constexpr int64_t warps_a_multiprocessor = 8;
    return job.length <= job.block_size || job.batch >= warps_a_multiprocessor * chip.multiprocessors;
}

int64_t warps_of_stretch(const DeviceJob& job) {
    return std::min<int64_t>(power_of_two_from(blocks_of(job)), 8);
}

void add_sequential(PlanBuilder& builder, const DeviceJob& job) {
    constexpr int64_t threads = 32;
    LaunchInfo info = info_of(
        job, "sequential", "Walks every column from the first step to the last, one thread a column.",
        "ceil(B * D / 32)", input_bytes(job) + output_bytes(job), static_cast<double>(elements_of(job)));
    info.reads = inputs_of(job);
    info.writes = {{job.y_name, shape_of(job)}};
    const Kernel kernel = builder.kernel(source_of("sequential.cu", job), "sequential");
    const auto [input_0, input_1] = planes_of(job);
    builder.launch(std::move(info), kernel, {ceil_divide(job.batch * job.channels, threads), 1, 1},
                   {threads, 1, 1}, 0, input_0, input_1, job.initial, job.y, job.length, job.channels,
                   job.batch);
}

void add_hillis_steele(PlanBuilder& builder, const DeviceJob& job) {
    const int64_t steps = std::max<int64_t>(levels_of(job.length), 1);
    const int64_t states = elements_of(job);
    const Source source = source_of("hillis_steele.cu", job, strip_defines(job));
    const Extent grid = strip_grid(job, job.length), block = {strip_threads, 1, 1};
    const auto [input_0, input_1] = planes_of(job);
    DeviceStates buffers[2];
    for (int b = 0; b < 2; ++b)
        if (steps > b + 1) buffers[b] = take_states(builder, job.op, states);

    for (int64_t step = 0; step < steps; ++step) {
        const bool is_first = step == 0, is_last = step == steps - 1;
        const int64_t reach = int64_t{1} << step;
        const DeviceStates from = buffers[(step + 1) % 2], to = buffers[step % 2];
        LaunchInfo info =
            info_of(job, "double_" + std::to_string(reach),
                    "Combines every position with the one " + std::to_string(reach) + " before it.",
                    strip_formula(job, "L"),
                    (is_first ? input_bytes(job) : state_bytes(job, states)) +
                        (is_last ? output_bytes(job) : state_bytes(job, states)),
                    static_cast<double>(std::max<int64_t>(job.length - reach, 0) * job.channels * job.batch));
        info.reads = is_first ? inputs_of(job) : std::vector<ArrayUse>{{"partial", shape_of(job)}};
        info.writes = {{is_last ? job.y_name : "partial", shape_of(job)}};
        if (is_first && is_last)
            builder.launch(std::move(info), builder.kernel(source, "double_only"), grid, block, 0, input_0,
                           input_1, job.initial, job.y, job.length, job.channels);
        else if (is_first)
            builder.launch(std::move(info), builder.kernel(source, "double_first"), grid, block, 0, input_0,
                           input_1, job.initial, to.plane_0, to.plane_1, job.length, job.channels);
        else if (is_last)
            builder.launch(std::move(info), builder.kernel(source, "double_last"), grid, block, 0,
                           from.plane_0, from.plane_1, job.y, reach, job.length, job.channels);
        else
            builder.launch(std::move(info), builder.kernel(source, "double_middle"), grid, block, 0,
                           from.plane_0, from.plane_1, to.plane_0, to.plane_1, reach, job.length,
                           job.channels);
    }
}

namespace {

// The tree of a blelloch scan: nodes[h] of height h stand for 2^h positions each; heights 1 … levels - 1 lie
// in memory.
struct Tree {
    int64_t levels;
    std::vector<int64_t> nodes;
    std::vector<DeviceStates> states;

    Tree(PlanBuilder& builder, const DeviceJob& job) : levels(std::max<int64_t>(levels_of(job.length), 1)) {
        for (int64_t count = job.length; static_cast<int64_t>(nodes.size()) < levels;
             count = ceil_divide(count, 2))
            nodes.push_back(count);
        nodes.push_back(1);
        states.resize(static_cast<size_t>(levels) + 1);
        for (int64_t h = 1; h < levels; ++h)
            states[static_cast<size_t>(h)] =
                take_states(builder, job.op, job.batch * count(h) * job.channels);
    }
    int64_t count(int64_t height) const { return nodes[static_cast<size_t>(height)]; }
    const DeviceStates& at(int64_t height) const { return states[static_cast<size_t>(height)]; }
};

std::string parents_formula(const DeviceJob& job, int64_t height) {
    return strip_formula(job, "ceil(L / 2^" + std::to_string(height) + ")");
}

void add_up_sweep(PlanBuilder& builder, const DeviceJob& job, const Source& source, const Tree& tree,
                  int64_t height) {
    const int64_t parents = tree.count(height), children = tree.count(height - 1), width = job.channels;
    const bool from_leaves = height == 1;
    const DeviceStates from = tree.at(height - 1), to = tree.at(height);
    const Extent grid = strip_grid(job, parents), block = {strip_threads, 1, 1};
    LaunchInfo info =
        info_of(job, "up_sweep_" + std::to_string(height),
                "Every node of height " + std::to_string(height) + " takes the total of its two children.",
                parents_formula(job, height),
                (from_leaves ? input_bytes(job) : state_bytes(job, job.batch * children * width)) +
                    state_bytes(job, job.batch * parents * width),
                static_cast<double>(job.batch * (children / 2) * width));
    info.reads =
        from_leaves ? inputs_of(job) : std::vector<ArrayUse>{{"totals", {job.batch, children, width}}};
    info.writes = {{"totals", {job.batch, parents, width}}};
    const auto [input_0, input_1] = planes_of(job);
    if (from_leaves)
        builder.launch(std::move(info), builder.kernel(source, "up_sweep_leaves"), grid, block, 0, input_0,
                       input_1, to.plane_0, to.plane_1, job.length, parents, job.channels);
    else
        builder.launch(std::move(info), builder.kernel(source, "up_sweep"), grid, block, 0, from.plane_0,
                       from.plane_1, to.plane_0, to.plane_1, children, parents, job.channels);
}

void add_down_sweep(PlanBuilder& builder, const DeviceJob& job, const Source& source, const Tree& tree,
                    int64_t height) {
    const int64_t parents = tree.count(height), children = tree.count(height - 1), width = job.channels;
    const bool is_root = height == tree.levels, is_last = height == 1;
    const DeviceStates from = tree.at(height), to = tree.at(height - 1);
    const Extent grid = strip_grid(job, parents), block = {strip_threads, 1, 1};
    LaunchInfo info =
        info_of(job, "down_sweep_" + std::to_string(height),
                is_last ? "Every leaf combines the prefix before it with its own value."
                        : "Left children take their parent's prefix, right ones join the left total to it.",
                parents_formula(job, height),
                state_bytes(job, is_root ? 0 : job.batch * parents * width) +
                    (is_last ? input_bytes(job) + output_bytes(job)
                             : 2 * state_bytes(job, job.batch * children * width)),
                static_cast<double>(job.batch * (is_last ? children : children / 2) * width));
    info.reads = is_last ? inputs_of(job) : std::vector<ArrayUse>{{"totals", {job.batch, children, width}}};
    if (!is_root) info.reads.push_back({"prefixes", {job.batch, parents, width}});
    info.writes = {{is_last ? job.y_name : "prefixes", {job.batch, children, width}}};
    const auto [input_0, input_1] = planes_of(job);
    if (is_last)
        builder.launch(std::move(info), builder.kernel(source, "down_sweep_leaves"), grid, block, 0,
                       from.plane_0, from.plane_1, input_0, input_1, job.y, job.initial, job.length, parents,
                       job.channels);
    else
        builder.launch(std::move(info), builder.kernel(source, "down_sweep"), grid, block, 0, from.plane_0,
                       from.plane_1, to.plane_0, to.plane_1, job.initial, children, parents, job.channels);
}

}  // namespace

void add_blelloch(PlanBuilder& builder, const DeviceJob& job) {
    const Source source = source_of("blelloch.cu", job, strip_defines(job));
    const Tree tree(builder, job);
    for (int64_t height = 1; height < tree.levels; ++height) add_up_sweep(builder, job, source, tree, height);
    for (int64_t height = tree.levels; height >= 1; --height)
        add_down_sweep(builder, job, source, tree, height);
}

namespace {

Defines column_defines(const ColumnTile& tile) {
    return {{"VECTOR", std::to_string(tile.vector)},
            {"UNITS", std::to_string(tile.units)},
            {"WARPS", std::to_string(tile.warps)},
            {"SHARED_ROWS", std::to_string(tile.shared_rows)},
            {"MIN_BLOCKS", std::to_string(tile.min_blocks)}};
}

void add_block_scan(PlanBuilder& builder, const DeviceJob& job, LaunchInfo info, DeviceStates local,
                    DeviceStates totals) {
    const auto [input_0, input_1] = planes_of(job);
    if (job.channels == 1) {
        constexpr int64_t warps = 4;
        const Source source =
            source_of("three_phase_rows.cu", job,
                      {{"VECTOR", std::to_string(row_vector(job))}, {"WARPS", std::to_string(warps)}});
        info.grid_formula = "ceil(B * ceil(L / block_size) / " + std::to_string(warps) + ")";
        builder.launch(std::move(info), builder.kernel(source, "block_scan"),
                       {ceil_divide(job.batch * blocks_of(job), warps), 1, 1}, {32 * warps, 1, 1}, 0, input_0,
                       input_1, local.plane_0, local.plane_1, totals.plane_0, totals.plane_1, job.length,
                       job.batch);
        return;
    }
    const ColumnTile tile = column_tile(job, builder.chip());
    const Source source = source_of("three_phase_columns.cu", job, column_defines(tile));
    info.grid_formula = "B * ceil(L / block_size), ceil(D / " + std::to_string(tile.width()) + ")";
    builder.launch(std::move(info), builder.kernel(source, "block_scan"),
                   {job.batch * blocks_of(job), ceil_divide(job.channels, tile.width()), 1},
                   {32 * tile.warps, 1, 1}, tile.shared_bytes, input_0, input_1, local.plane_0, local.plane_1,
                   totals.plane_0, totals.plane_1, job.length, job.channels);
}

}  // namespace

void add_three_phase(PlanBuilder& builder, const DeviceJob& job) {
    const int64_t blocks = blocks_of(job), block_states = job.batch * blocks * job.channels;
    const bool in_place = planes_of(job.op) == 1 && job.y_storage == Storage::as_is;
    const DeviceStates local = in_place ? DeviceStates{static_cast<float*>(job.y), nullptr}
                                        : take_states(builder, job.op, elements_of(job));
    const DeviceStates totals = take_states(builder, job.op, block_states);
    const ArrayUse local_use{in_place ? job.y_name : "local", shape_of(job)};
    const ArrayUse totals_use{"totals", {job.batch, blocks, job.channels}};
    const double elements = static_cast<double>(elements_of(job));
    const double local_bytes = state_bytes(job, elements_of(job));
    const double totals_bytes = state_bytes(job, block_states);

    LaunchInfo scan = info_of(job, "block_scan", "Scans every block for itself and keeps its total.", "",
                              input_bytes(job) + local_bytes + totals_bytes, elements);
    scan.reads = inputs_of(job);
    scan.writes = {local_use, totals_use};
    add_block_scan(builder, job, std::move(scan), local, totals);

    const int64_t units = strip_lanes(job);
    Defines tiling = strip_defines(job);
    tiling.emplace_back("UNITS", std::to_string(units));
    const Source source = source_of("three_phase.cu", job, std::move(tiling));
    LaunchInfo sums = info_of(
        job, "scan_of_block_sums", "Turns the blocks' totals into the prefix before every block.",
        "B, ceil(D / " + std::to_string(units) + ")", 2 * totals_bytes, static_cast<double>(block_states));
    sums.reads = sums.writes = {totals_use};
    builder.launch(std::move(sums), builder.kernel(source, "scan_of_block_sums"),
                   {job.batch, ceil_divide(job.channels, units), 1}, {512, 1, 1}, 0, totals.plane_0,
                   totals.plane_1, job.initial, blocks, job.channels);

    LaunchInfo add =
        info_of(job, "add_block_prefixes", "Combines the prefix before every block with its positions.",
                strip_formula(job, "L"), local_bytes + output_bytes(job) + totals_bytes, elements);
    add.reads = {local_use, totals_use};
    add.writes = {{job.y_name, shape_of(job)}};
    builder.launch(std::move(add), builder.kernel(source, "add_block_prefixes"), strip_grid(job, job.length),
                   {strip_threads, 1, 1}, 0, local.plane_0, local.plane_1, totals.plane_0, totals.plane_1,
                   job.y, job.length, job.channels);
}

namespace {

// What tiles publish (lookback.cuh): a flag with one float in 8 bytes, or with two in 16.
std::byte* take_board(PlanBuilder& builder, Operator op, int64_t states) {
    return builder.take_zeroed<std::byte>(states * (planes_of(op) == 1 ? 8 : 16));
}

void add_lookback_of_columns(PlanBuilder& builder, const DeviceJob& job, LaunchInfo info) {
    const ColumnTile tile = column_tile(job, builder.chip());
    const int64_t strips = ceil_divide(job.channels, tile.width());
    const int64_t tiles = job.batch * strips * blocks_of(job);
    info.grid_formula = "ceil(L / block_size) * B * ceil(D / " + std::to_string(tile.width()) + ")";
    const Source source = source_of("lookback_columns.cu", job, column_defines(tile));
    const auto [input_0, input_1] = planes_of(job);
    auto* const counter = builder.take_zeroed<unsigned long long>(1);
    std::byte* const board = take_board(builder, job.op, tiles * tile.width());
    builder.launch(std::move(info), builder.kernel(source, "lookback"), {tiles, 1, 1},
                   {32 * tile.warps, 1, 1}, tile.shared_bytes, input_0, input_1, job.initial, job.y, counter,
                   board, job.length, job.channels, static_cast<int>(job.batch));
}

Source rows_source(const std::string& file, const DeviceJob& job, int64_t warps) {
    return source_of(
        file, job,
        {{"VECTOR", std::to_string(row_vector(job))}, {"WARPS", std::to_string(warps)}, {"MIN_BLOCKS", "1"}});
}

void add_lookback_of_rows(PlanBuilder& builder, const DeviceJob& job, LaunchInfo info) {
    const int64_t warps = warps_of_stretch(job);
    const int64_t stretches = job.batch * ceil_divide(job.length, warps * job.block_size);
    info.grid_formula = "ceil(L / (" + std::to_string(warps) + " * block_size)) * B";
    const auto [input_0, input_1] = planes_of(job);
    auto* const counter = builder.take_zeroed<unsigned long long>(1);
    std::byte* const board = take_board(builder, job.op, stretches);
    builder.launch(std::move(info), builder.kernel(rows_source("lookback_rows.cu", job, warps), "lookback"),
                   {stretches, 1, 1}, {32 * warps, 1, 1}, 0, input_0, input_1, job.initial, job.y, counter,
                   board, job.length, static_cast<int>(job.batch));
}

void add_walk_of_rows(PlanBuilder& builder, const DeviceJob& job, LaunchInfo info) {
    constexpr int64_t warps = 4;
    info.meaning = "Walks every row tile after tile, one warp a row: the prefix is handed on in a register.";
    info.grid_formula = "ceil(B / " + std::to_string(warps) + ")";
    const auto [input_0, input_1] = planes_of(job);
    builder.launch(std::move(info), builder.kernel(rows_source("lookback_chains.cu", job, warps), "lookback"),
                   {ceil_divide(job.batch, warps), 1, 1}, {32 * warps, 1, 1}, 0, input_0, input_1,
                   job.initial, job.y, job.length, job.batch);
}

}  // namespace

void add_lookback(PlanBuilder& builder, const DeviceJob& job) {
    LaunchInfo info =
        info_of(job, "lookback", "Scans every tile once, with the prefix that it finds by looking back.", "",
                input_bytes(job) + output_bytes(job), static_cast<double>(2 * elements_of(job)));
    info.reads = inputs_of(job);
    info.writes = {{job.y_name, shape_of(job)}};
    if (job.channels > 1)
        add_lookback_of_columns(builder, job, std::move(info));
    else if (walks_rows(job, builder.chip()))
        add_walk_of_rows(builder, job, std::move(info));
    else
        add_lookback_of_rows(builder, job, std::move(info));
}

void* add_shifted_gates(PlanBuilder& builder, const DeviceJob& forward) {
    const int64_t bytes = elements_of(forward) * bytes_of(forward.storage, Dtype::f32);
    void* const shifted = builder.take<std::byte>(bytes);
    LaunchInfo info{.name = "shift_gates",
                    .meaning = "Moves every gate to the step before it, where the gradient needs it.",
                    .grid_formula = strip_formula(forward, "L"),
                    .reads = {{"a", shape_of(forward)}},
                    .writes = {{"shifted_a", shape_of(forward)}},
                    .work = {2.0 * static_cast<double>(bytes), 0}};
    const Source source = source_of("gradients.cu", forward, strip_defines(forward));
    builder.launch(std::move(info), builder.kernel(source, "shift_gates"),
                   strip_grid(forward, forward.length), {strip_threads, 1, 1}, 0, forward.a, shifted,
                   forward.length, forward.channels);
    return shifted;
}

void add_gate_gradients(PlanBuilder& builder, const DeviceJob& forward, const float* g, float* da,
                        float* dinitial) {
    const double count = static_cast<double>(elements_of(forward));
    LaunchInfo info{.name = "gate_gradient",
                    .meaning = "Multiplies the gradient of every position with the output before it.",
                    .grid_formula = strip_formula(forward, "L"),
                    .reads = {{"dx", shape_of(forward)}, {"y", shape_of(forward)}},
                    .writes = {{"da", shape_of(forward)}},
                    .work = {8 * count + output_bytes(forward), count}};
    if (forward.has_initial) info.writes.push_back({"dinitial", {forward.batch, forward.channels}});
    const Source source = source_of("gradients.cu", forward, strip_defines(forward));
    builder.launch(std::move(info), builder.kernel(source, "gate_gradient"),
                   strip_grid(forward, forward.length), {strip_threads, 1, 1}, 0, g,
                   static_cast<const void*>(forward.y), forward.a, forward.initial, da, dinitial,
                   forward.length, forward.channels);
}

}  // namespace sawtooth::scan

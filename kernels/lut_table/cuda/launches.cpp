#include "kernels/lut_table/cuda/launches.h"

#include <algorithm>
#include <bit>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_table/fixed_point.h"
#include "kernels/lut_table/overflow.h"
#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut_table {

namespace {

bool is_integer(const cuda::PlanBuilder& builder) { return builder.parameters().is("arithmetic", "integer"); }

const int32_t* integers(cuda::PlanBuilder& builder, const char* name) {
    return static_cast<const int32_t*>(builder.input(name, Storage::f32).address);
}

Table table_of(cuda::PlanBuilder& builder) {
    Table table = {};
    table.weights = builder.input(is_full(builder.parameters()) ? "weights" : "synapse_weights").as<float>();
    table.offsets = integers(builder, "synapse_offsets");
    table.targets = integers(builder, "synapse_targets");
    table.metas = integers(builder, "synapse_meta");
    table.meta_rates = builder.input("meta_lr").as<float>();
    return table;
}

}  // namespace

CommonArguments common_arguments(cuda::PlanBuilder& builder, int64_t items) {
    const Parameters& p = builder.parameters();
    const Sizes sizes(p);
    CommonArguments given = {};
    given.batch = items;
    given.inputs = sizes.inputs;
    given.outputs = sizes.outputs;
    given.detectors = sizes.detectors;
    given.rows = sizes.rows;
    given.output_blocks = p.integer("output_blocks");
    given.group = p.integer("synapse_group_size");
    given.x = builder.input("x").as<float>();
    given.anchors = integers(builder, "anchors");
    given.table = table_of(builder);
    given.found = {builder.output("lookup_index").as<int32_t>(), builder.output("min_delta").as<float>(),
                   builder.output("min_delta_index").as<int32_t>()};
    if (runs_backward(p)) given.dy = builder.input("dy").as<float>();
    given.scale = sizes.integer ? p.real("rescale") * FixedPoint::unit : 1;
    given.lr = p.real("lr");
    given.fault = take_overflows(builder);
    return given;
}

Side side_y(const std::string& name, int64_t count) {
    constexpr int64_t most = 65535;
    return count <= most ? side(name, count) : Side{most, "min(" + name + ", 65535)"};
}

void add_clear(cuda::PlanBuilder& builder, const Buffer& array, void* at, int64_t block) {
    const Clear clear = {at, static_cast<int64_t>(array.bytes())};
    if (clear.bytes == 0) return;
    builder.launch(describe::clear(array), {pieces("bytes", clear.bytes, "(16 block_size)", 16 * block)},
                   {.file = "kernels/lut_table/cuda/clear.cu", .entry = "clear", .threads = block}, clear);
}

void* add_sums(cuda::PlanBuilder& builder, const Buffer& sums, int64_t block) {
    void* const at = is_integer(builder) ? builder.take<int64_t>(count_of(sums.shape))
                                         : builder.output(sums.name, Storage::f32).address;
    add_clear(builder, sums, at, block);
    return at;
}

void add_convert(cuda::PlanBuilder& builder, const Buffer& sums, const void* from, Fault fault,
                 const CommonArguments& given, int64_t block) {
    const int64_t count = count_of(sums.shape);
    if (!is_integer(builder) || count == 0) return;
    const bool subtracts = fault == fault_dweights && given.weights_after;
    const Convert convert = {static_cast<const int64_t*>(from),
                             builder.output(sums.name).as<float>(),
                             subtracts ? given.table.weights : nullptr,
                             subtracts ? given.weights_after : nullptr,
                             count,
                             given.scale,
                             given.fault + fault};
    builder.launch(describe::convert_integers_to_floats(builder.request(), sums),
                   {pieces("n", count, "block_size", block)},
                   {.file = "kernels/lut_table/cuda/convert.cu",
                    .entry = "convert_integers_to_floats",
                    .threads = block},
                   convert);
}

float* take_weights_after(cuda::PlanBuilder& builder, const Buffer& dweights, const Table& table) {
    float* const after = builder.output("weights_after").as<float>();
    if (after && !is_integer(builder)) builder.restore(after, table.weights, 4 * count_of(dweights.shape));
    return after;
}

cuda::Defines defines_of(const Sizes& sizes) {
    return {{"SPARSE", sizes.sparse},
            {"INTEGER", sizes.integer},
            {"ALIGNED", sizes.outputs % 4 == 0},
            {"ANCHORS", sizes.anchors}};
}

int64_t staged_inputs(int64_t items, int64_t inputs) {
    constexpr int64_t most_bytes = 32 << 10;
    return items * inputs * 4 <= most_bytes ? inputs : 0;
}

void* take_rows(cuda::PlanBuilder& builder, int64_t blocks, int64_t width, int64_t sum_bytes,
                cuda::KernelSource& source) {
    constexpr int64_t most_bytes = 48 << 10, most_warps = 8;
    const int64_t row = width * sum_bytes;
    const bool fits = row <= most_bytes;
    const int64_t warps = std::clamp<int64_t>(most_bytes / row, 1, most_warps);
    source.threads = 32 * warps;
    source.shared_bytes = fits ? warps * row : 0;
    source.defines.push_back({"WARPS", warps});
    source.defines.push_back({"ROWS_SHARED", fits});
    return fits ? nullptr : builder.take<std::byte>(blocks * row);
}

void add_groups(cuda::KernelSource& source, int64_t outputs, int64_t items) {
    const int64_t lanes = lanes_of(outputs, source.threads);
    source.defines.push_back({"LANES", lanes});
    source.defines.push_back({"GROUPS", source.threads / lanes / items});
}

int64_t lanes_of(int64_t outputs, int64_t threads) {
    const int64_t fours = std::clamp<int64_t>(ceil_divide(outputs, 4), 1, threads);
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(fours)));
}

void add_weight_gradients(cuda::PlanBuilder& builder, LaunchInfo info, const Sizes& sizes,
                          const CommonArguments& given) {
    constexpr int64_t threads = 256;
    builder.launch(
        std::move(info), {pieces("neurons", sizes.neurons(), threads / 32)},
        {"kernels/lut_table/cuda/weight_gradients.cu", "weight_gradients", defines_of(sizes), threads},
        given);
}

}  // namespace sawtooth::lut_table

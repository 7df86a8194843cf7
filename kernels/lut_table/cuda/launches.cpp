#include "kernels/lut_table/cuda/launches.h"

#include <algorithm>
#include <bit>

#include "kernels/lut_table/fixed_point.h"
#include "kernels/lut_table/overflow.h"

namespace sawtooth::lut_table {
namespace {

// Adds the launches that divide final gradients by their largest magnitude.
void add_normalise(cuda::PlanBuilder& builder, const Buffer& gradients, int64_t block) {
    const int64_t count = count_of(gradients.shape);
    if (count == 0) return;
    const Buffer largest = builder.take<uint32_t>("largest_" + gradients.name, {1});
    const Normalise given = {gradients.as<float>(), largest.as<uint32_t>(), count};
    cuda::KernelSource source{"kernels/lut_table/cuda/normalise.cu", "largest_gradient", {}, block};
    add_clear(builder, largest, block);
    builder.launch(largest_gradient(gradients, largest), {pieces("n", count, "(16 block_size)", 16 * block)},
                   source, given);
    source.entry = "normalise_gradients";
    builder.launch(normalise_gradients(gradients, largest), {pieces("n", count, "block_size", block)}, source,
                   given);
}

}  // namespace

CommonArguments common_arguments(cuda::PlanBuilder& builder, const Tensors& t, int64_t choices) {
    const Parameters& p = builder.parameters();
    return {.batch = t.items,
            .inputs = t.inputs,
            .outputs = t.outputs,
            .detectors = t.detectors,
            .rows = t.rows,
            .output_blocks = t.output_blocks,
            .group = p.integer("synapse_group_size"),
            .x = t.x.as<float>(),
            .anchors = t.pairs,
            .table = t.table,
            .found = t.bits,
            .dy = t.dy_rows,
            .y = t.y.address,
            .dx = t.dx.address,
            .dweights = t.dweights.address,
            .weights_after = t.weights_after.as<float>(),
            .scale = t.integer ? p.real("rescale") * FixedPoint::unit : 1,
            .lr = t.lr,
            .eps = t.eps,
            .choices = choices,
            .fault = take_overflows(builder)};
}

Side side_y(const std::string& name, int64_t count) {
    constexpr int64_t most = 65535;
    return count <= most ? side(name, count) : Side{most, "min(" + name + ", 65535)"};
}

void add_clear(cuda::PlanBuilder& builder, const Buffer& array, int64_t block) {
    const Clear given = {array.address, count_of(array.shape) * array.element_bytes};
    if (given.bytes == 0) return;
    builder.launch(clear(array), {pieces("bytes", given.bytes, "(16 block_size)", 16 * block)},
                   {.file = "kernels/lut_table/cuda/clear.cu", .entry = "clear", .threads = block}, given);
}

void add_convert(cuda::PlanBuilder& builder, const Tensors& t, const Buffer& sums, const Buffer& output,
                 Fault fault, const CommonArguments& given, int64_t block) {
    const int64_t count = count_of(output.shape);
    if (!t.integer || count == 0) return;
    const bool subtracts = fault == fault_dweights && t.weights_after;
    const Convert convert = {sums.as<int64_t>(),
                             output.as<float>(),
                             subtracts ? t.table.weights : nullptr,
                             subtracts ? t.weights_after.as<float>() : nullptr,
                             count,
                             given.scale,
                             given.fault + fault};
    builder.launch(convert_integers_to_floats(t, sums, output), {pieces("n", count, "block_size", block)},
                   {.file = "kernels/lut_table/cuda/convert.cu",
                    .entry = "convert_integers_to_floats",
                    .threads = block},
                   convert);
}

void add_check(cuda::PlanBuilder& builder, LaunchInfo info, const Grid& grid, const Sizes& sizes,
               const CommonArguments& given, int64_t block) {
    cuda::KernelSource source{"kernels/lut_table/cuda/detectors.cu", "check_detectors", defines_of(sizes),
                              block};
    source.defines.push_back({"INPUTS", staged_inputs(1, sizes.inputs)});
    builder.launch(std::move(info), grid, source, given);
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

Buffer take_rows(cuda::PlanBuilder& builder, const Tensors& t, int64_t blocks, int64_t width,
                 cuda::KernelSource& source) {
    constexpr int64_t most_bytes = 48 << 10, most_warps = 8;
    const int64_t row = width * t.sum_bytes();
    const bool fits = row <= most_bytes;
    const int64_t warps = std::clamp<int64_t>(most_bytes / row, 1, most_warps);
    source.threads = 32 * warps;
    source.shared_bytes = fits ? warps * row : 0;
    source.defines.push_back({"WARPS", warps});
    source.defines.push_back({"ROWS_SHARED", fits});
    return fits ? Buffer() : t.take_sums(builder, "rows of sums", {blocks, width});
}

void add_groups(cuda::KernelSource& source, int64_t outputs, int64_t items) {
    const int64_t lanes = lanes_of(outputs, source.threads);
    source.defines.push_back({"LANES", lanes});
    source.defines.push_back({"GROUPS", source.threads / lanes / items});
}

int64_t lanes_of(int64_t outputs, int64_t threads) {
    const int64_t fours = std::clamp<int64_t>(ceil_divide(outputs, outputs_of_thread), 1, threads);
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(fours)));
}

void finish_gradients(cuda::PlanBuilder& builder, const Tensors& t, const Buffers& gradients) {
    const int64_t block = builder.parameters().integer("block_size");
    if (t.normalises)
        for (const Buffer& array : gradients) add_normalise(builder, array, block);
    const int64_t weights = t.weights_after ? count_of(t.weights_after.shape) : 0;
    if (weights == 0 || !t.limits.exist()) return;
    builder.launch(
        limit_weights(t), {pieces("n", weights, "block_size", block)},
        {.file = "kernels/lut_table/cuda/limit_weights.cu", .entry = "limit_weights", .threads = block},
        Limit{t.weights_after.as<float>(), weights, t.limits.least, t.limits.most});
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

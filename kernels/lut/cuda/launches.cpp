#include "kernels/lut/cuda/launches.h"

#include <algorithm>
#include <bit>

#include "kernels/lut/describe.h"
#include "kernels/lut/fixed_point.h"

namespace sawtooth::lut {

Table table_of(cuda::PlanBuilder& builder) {
    Table table = {};
    if (is_full(builder.parameters())) {
        table.weights = builder.input("weights");
        return table;
    }
    const auto numbers = [&](const char* name) {
        return static_cast<const int32_t*>(builder.input(name, Storage::f32));
    };
    table.weights = builder.input("synapse_weights");
    table.offsets = numbers("synapse_offsets");
    table.targets = numbers("synapse_targets");
    table.metas = numbers("synapse_meta");
    table.meta_rates = builder.input("meta_lr");
    return table;
}

int64_t count_of_weights(const PlanRequest& request) {
    const Array* const weights =
        find(request.inputs, is_full(request.parameters) ? "weights" : "synapse_weights");
    return weights ? weights->count() : 0;
}

double scale_of(const Parameters& parameters) {
    return parameters.is("arithmetic", "integer") ? parameters.real("rescale") * FixedPoint::unit : 1;
}

Side side_y(const std::string& name, int64_t count) {
    constexpr int64_t most = 65535;
    return count <= most ? side(name, count) : Side{most, "min(" + name + ", 65535)"};
}

void add_clear(cuda::PlanBuilder& builder, const ArrayUse& array, void* at, int64_t block) {
    const Clear clear = {at, static_cast<int64_t>(array.bytes())};
    if (clear.bytes == 0) return;
    builder.launch(describe::clear(array), {pieces("bytes", clear.bytes, "(16 block_size)", 16 * block)},
                   {.file = "kernels/lut/cuda/clear.cu", .entry = "clear", .threads = block}, clear);
}

void add_convert(cuda::PlanBuilder& builder, const ArrayUse& array, const Convert& convert, int64_t block) {
    if (convert.count == 0) return;
    builder.launch(
        describe::convert_integers_to_floats(builder.request(), array),
        {pieces("n", convert.count, "block_size", block)},
        {.file = "kernels/lut/cuda/convert.cu", .entry = "convert_integers_to_floats", .threads = block},
        convert);
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
                          const Arguments& given) {
    constexpr int64_t threads = 256;
    builder.launch(std::move(info), {pieces("neurons", sizes.neurons(), threads / 32)},
                   {"kernels/lut/cuda/weight_gradients.cu", "weight_gradients", defines_of(sizes), threads},
                   given);
}

}  // namespace sawtooth::lut

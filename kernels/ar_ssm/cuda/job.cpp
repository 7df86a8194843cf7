#include "kernels/ar_ssm/cuda/job.h"

#include <algorithm>

namespace sawtooth::ar_ssm {

bool projects_in_groups(const Sizes& sizes, const Chip& chip) {
    const auto is_one_of = [](int64_t size, std::initializer_list<int64_t> sizes_of_products) {
        return std::find(sizes_of_products.begin(), sizes_of_products.end(), size) != sizes_of_products.end();
    };
    // In f32 a group also holds the sums of a step and two parts of x.
    const bool is_f32 = sizes.storage == Storage::f32;
    return chip.architecture == "sm_90a" && !sizes.backward &&
           sizes.width % (128 / bytes_of(sizes.storage)) == 0 && is_one_of(sizes.hidden, {64, 128}) &&
           is_one_of(sizes.rank, {16, 32, 64}) &&
           !(is_f32 && (sizes.hard || sizes.hidden + 2 * sizes.rank > 192));
}

Layer CudaJob::arguments() const {
    return {.batch = batch,
            .length = length,
            .width = width,
            .rank = rank,
            .hidden = hidden,
            .scale = scale(),
            .x = x.address,
            .dy = dy.address,
            .gate_noise = gate_noise.as<float>(),
            .gate_sharpness = static_cast<float>(1 / temperature),
            .conv = weight.conv.address,
            .gate_w1 = weight.gate_w1.address,
            .gate_b1 = weight.gate_b1.address,
            .gate_w2 = weight.gate_w2.address,
            .gate_b2 = weight.gate_b2.address,
            .u_proj = weight.u_proj.address,
            .v_proj = weight.v_proj.address,
            .out_proj = weight.out_proj.address,
            .out_bias = weight.out_bias.address,
            .y = y.address,
            .gates = gates.as<float>(),
            .effective_rank = effective_rank.as<float>(),
            .dx = dx.as<float>(),
            .hidden_units = hidden_units.address,
            .hidden_rest = hidden_rest.address,
            .gate_slopes = gate_slopes.as<float>(),
            .projected_u = projected_u.address,
            .projected_v = projected_v.address,
            .u = u.address,
            .v = v.address,
            .c = c.as<float>(),
            .c_rev = c_rev.as<float>(),
            .w = w.address,
            .w_rev = w_rev.address,
            .t = t.address,
            .uv = uv.address,
            .uv_rev = uv_rev.address,
            .dw = dw.as<float>(),
            .dc = dc.as<float>(),
            .dv = dv.as<float>(),
            .du = du.as<float>(),
            .du_rev = du_rev.as<float>(),
            .dprojected_u = dprojected_u.address,
            .dprojected_v = dprojected_v.address,
            .dlogits = dlogits.address,
            .dhidden = dhidden.address,
            .totals = totals.as<float>(),
            .prefixes = prefixes.as<float>(),
            .reverse_prefixes = reverse_prefixes.as<float>(),
            .gradient_totals = gradient_totals.as<float>(),
            .gradient_prefixes = gradient_prefixes.as<float>(),
            .reverse_gradient_prefixes = reverse_gradient_prefixes.as<float>()};
}

int64_t CudaJob::long_depth() const {
    constexpr int64_t enough = 128 << 10;
    return builder.chip().shared_bytes_per_block >= enough ? 2 * depth() : depth();
}

int64_t CudaJob::product_bytes(int64_t left_rows, int64_t left_columns, int64_t right_rows,
                               int64_t right_columns) const {
    constexpr int64_t stages = 3, padding = 8;
    const auto tile_bytes = [&](int64_t rows, int64_t columns) {
        return round_up(rows * (columns + padding) * bytes_of(storage), int64_t{16});
    };
    return stages * (tile_bytes(left_rows, left_columns) + tile_bytes(right_rows, right_columns));
}

cuda::KernelSource CudaJob::source(const std::string& file, const std::string& entry, int64_t shared_bytes,
                                   cuda::Defines more) const {
    const bool all = is_aligned(width) && is_aligned(rank) && is_aligned(hidden);
    cuda::Defines defines = {
        {"STORAGE", name_of(storage)}, {"ALIGNED", all}, {"ALIGNED_CHANNELS", is_aligned(width)}};
    std::move(more.begin(), more.end(), std::back_inserter(defines));
    return {"kernels/ar_ssm/cuda/" + file, entry, std::move(defines), threads, shared_bytes};
}

int64_t columns_at_once(int64_t columns, int64_t most, int64_t step) {
    return round_up(ceil_divide(columns, ceil_divide(columns, most)), step);
}

}  // namespace sawtooth::ar_ssm

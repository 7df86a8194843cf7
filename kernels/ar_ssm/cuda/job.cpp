#include "kernels/ar_ssm/cuda/job.h"

#include "kernels/scan/job.h"

namespace sawtooth::ar_ssm {

CudaJob::CudaJob(cuda::PlanBuilder& of_plan) : Sizes(of_plan.parameters()), builder(of_plan) {
    given.batch = batch;
    given.length = length;
    given.width = width;
    given.rank = rank;
    given.hidden = hidden;
    given.scale = scale();
    const auto input = [&](const char* name) { return builder.input(name, storage).address; };
    given.x = input("x");
    given.conv = input("conv");
    given.gate_w1 = input("gate_w1");
    given.gate_b1 = input("gate_b1");
    given.gate_w2 = input("gate_w2");
    given.gate_b2 = input("gate_b2");
    given.u_proj = input("u_proj");
    given.v_proj = input("v_proj");
    given.out_proj = input("out_proj");
    given.out_bias = input("out_bias");
    given.y = builder.output("y", storage).address;
    given.gates = builder.output("gates").as<float>();
    given.effective_rank = builder.output("effective_rank").as<float>();
    given.hidden_units = take_factors(hidden);
    if (hard && storage != Storage::f32) given.hidden_rest = take_factors(hidden);
    if (!backward) return;
    given.dy = input("dy");
    given.dx = builder.output("dx").as<float>();
    given.gate_slopes = take_ranks();
    given.dc = take_ranks();
    given.dv = take_ranks();
    given.dprojected_u = take_factors(rank);
    given.dprojected_v = take_factors(rank);
    given.dlogits = take_factors(rank);
    given.dhidden = take_factors(hidden);
}

float* CudaJob::gradient(const std::string& weight) {
    const auto [at, is_new] = gradients_.try_emplace(weight);
    if (is_new) at->second = builder.output("d" + weight).as<float>();
    return at->second;
}

int64_t CudaJob::long_depth() const {
    constexpr int64_t enough = 128 << 10;
    return builder.chip().shared_bytes_per_block >= enough ? 2 * depth() : depth();
}

int64_t CudaJob::product_bytes(int64_t left_rows, int64_t left_columns, int64_t right_rows,
                               int64_t right_columns) const {
    constexpr int64_t stages = 3, padding_bytes = 16;
    const auto part = [&](int64_t rows, int64_t columns) {
        return round_up(rows * (columns * bytes_of(storage) + padding_bytes), int64_t{16});
    };
    return stages * (part(left_rows, left_columns) + part(right_rows, right_columns));
}

cuda::KernelSource CudaJob::source(const std::string& file, const std::string& entry, int64_t shared_bytes,
                                   cuda::Defines more) const {
    const bool all = is_aligned(width) && is_aligned(rank) && is_aligned(hidden);
    cuda::Defines defines = {
        {"STORAGE", name_of(storage)}, {"ALIGNED", all}, {"ALIGNED_CHANNELS", is_aligned(width)}};
    std::move(more.begin(), more.end(), std::back_inserter(defines));
    return {"kernels/ar_ssm/cuda/" + file, entry, std::move(defines), threads, shared_bytes};
}

void CudaJob::scan(const std::string& variant, const ScanOf& of) {
    scan::Job job = {};
    job.op = scan::Operator::sum;
    job.flipped = of.flipped;
    job.batch = batch;
    job.length = of.count;
    job.channels = rank;
    job.block_size = scan::automatic_block_size(of.count);
    const Shape shape = {batch, of.count, rank};
    job.in = {{of.name, shape, bytes_of(of.storage), of.storage, const_cast<void*>(of.from)}};
    job.y = {of.to_name, shape, 4, Storage::f32, of.to};
    job.prefix = of.prefix;
    scan::launch_scan(builder, variant, job);
}

int64_t panel_of(int64_t columns, int64_t most, int64_t step) {
    return round_up(ceil_divide(columns, ceil_divide(columns, most)), step);
}

}  // namespace sawtooth::ar_ssm

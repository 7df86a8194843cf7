#include "kernels/lut_sequence/cuda/job.h"

namespace sawtooth::lut_sequence {
namespace {

// Adds the launches of both variants that find the bits of positions and distances.
void add_checks(cuda::PlanBuilder& builder, const CudaJob& job) {
    const int64_t block = builder.parameters().integer("block_size");
    const Side of_detectors = pieces("T", job.detectors, "block_size", block);
    add_check(builder, check_detectors_for_sequence(job), {of_detectors, side_y("B S", job.items)}, job,
              job.given, block);
    if (job.sizes.distances() == 0) return;
    builder.launch(check_positional_embeddings(job), {of_detectors, side("S - 1", job.sizes.distances())},
                   job.source("positional.cu", "check_positional_embeddings", block), job.given);
}

// Adds the launches for sequences of one position, which have no pair: all sums are zero.
void add_launches_without_pairs(cuda::PlanBuilder& builder, const CudaJob& job) {
    const int64_t block = builder.parameters().integer("block_size");
    for (const Buffer& array : {job.y, job.dx, job.dweights})
        if (array) add_clear(builder, array, block);
    if (job.weights_after) job.restore_weights(builder);
}

}  // namespace

CudaJob::CudaJob(cuda::PlanBuilder& builder)
    : Tensors(builder),
      given{common_arguments(builder, *this, sizes.batch * sizes.pairs()),
            sizes.batch,
            sizes.length,
            sizes.pairs(),
            positional.as<float>(),
            distance_bits,
            dpositional.address} {}

cuda::KernelSource CudaJob::source(const char* file, const char* entry, int64_t threads) const {
    cuda::Defines defines = defines_of(*this);
    defines.push_back({"POSITIONAL", sizes.positional});
    return {std::string("kernels/lut_sequence/cuda/") + file, entry, std::move(defines), threads};
}

Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches add_launches) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    add_checks(builder, job);
    if (job.sizes.distances() == 0)
        add_launches_without_pairs(builder, job);
    else
        add_launches(builder, job);
    finish_gradients(builder, job, {job.dweights, job.dpositional});
    return builder.finish();
}

}  // namespace sawtooth::lut_sequence

#include "kernels/lut_sequence/cuda/job.h"

#include "kernels/lut_sequence/describe.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut_sequence {
namespace {

// The launches of both variants that find the bits of positions and distances.
void add_checks(cuda::PlanBuilder& builder, const CudaJob& job) {
    const int64_t block = builder.parameters().integer("block_size");
    const lut_table::CommonArguments& common = job.given;
    const Side of_detectors = pieces("T", job.detectors, "block_size", block);
    cuda::KernelSource check{"kernels/lut_table/cuda/detectors.cu", "check_detectors",
                             lut_table::defines_of(job), block};
    check.defines.push_back({"INPUTS", lut_table::staged_inputs(1, job.inputs)});
    builder.launch(describe::check_detectors_for_sequence(builder.request()),
                   {of_detectors, lut_table::side_y("B S", job.positions())}, check, common);
    if (job.distances() == 0) return;
    builder.launch(describe::check_positional_embeddings(builder.request()),
                   {of_detectors, side("S - 1", job.distances())},
                   job.source("positional.cu", "check_positional_embeddings", block), job.given);
}

// All launches without a single pair, of sequences of one position: their sums are zero.
void add_launches_without_pairs(cuda::PlanBuilder& builder, const CudaJob& job) {
    const PlanRequest& request = builder.request();
    const int64_t block = builder.parameters().integer("block_size");
    const auto clear = [&](const char* name, Buffer array) {
        array.element_bytes = 4;
        if (float* const at = builder.output(name).as<float>())
            lut_table::add_clear(builder, array, at, block);
    };
    clear("y", describe::y(request));
    if (!job.backward()) return;
    clear("dx", describe::dx(request));
    clear("dpositional", describe::dpositional(request));
    clear("dweights", describe::dweights(request));
    if (float* const after = builder.output("weights_after").as<float>())
        builder.restore(after, job.given.table.weights, 4 * count_of(describe::dweights(request).shape));
}

}  // namespace

CudaJob::CudaJob(cuda::PlanBuilder& builder) : Sizes(builder.parameters()) {
    static_cast<lut_table::CommonArguments&>(given) = lut_table::common_arguments(builder, positions());
    given.choices = batch * pairs();
    given.sequences = batch;
    given.length = length;
    given.pairs = pairs();
    given.positional = builder.input("positional").as<float>();
    given.distances = {builder.output("positional_lookup_index").as<int32_t>(),
                       builder.output("positional_min_delta").as<float>(),
                       builder.output("positional_min_delta_index").as<int32_t>()};
}

cuda::KernelSource CudaJob::source(const char* file, const char* entry, int64_t threads) const {
    cuda::Defines defines = lut_table::defines_of(*this);
    defines.push_back({"POSITIONAL", positional});
    return {std::string("kernels/lut_sequence/cuda/") + file, entry, std::move(defines), threads};
}

Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches add_launches) {
    cuda::PlanBuilder builder(request);
    CudaJob job(builder);
    add_checks(builder, job);
    if (job.distances() == 0)
        add_launches_without_pairs(builder, job);
    else
        add_launches(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::lut_sequence

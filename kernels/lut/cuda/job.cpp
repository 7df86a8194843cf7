#include "kernels/lut/cuda/job.h"

#include "kernels/core/common_parameters.h"
#include "kernels/lut/cuda/launches.h"
#include "kernels/lut/overflow.h"

namespace sawtooth::lut {

static_assert(fault_y == static_cast<int>(SumArray::y) &&
              fault_dweights == static_cast<int>(SumArray::dweights) &&
              fault_dpositional == static_cast<int>(SumArray::dpositional));

CudaJob::CudaJob(cuda::PlanBuilder& builder) : Sizes(builder.parameters()) {
    const Parameters& p = builder.parameters();
    given.batch = batch;
    given.inputs = inputs;
    given.outputs = outputs;
    given.detectors = detectors;
    given.rows = rows;
    given.output_blocks = p.integer("output_blocks");
    given.group = p.integer("synapse_group_size");
    given.scale = scale_of(p);
    given.lr = p.real("lr");
    given.x = builder.input("x");
    given.anchors = static_cast<const int32_t*>(builder.input("anchors", Storage::f32));
    given.table = table_of(builder);
    given.found = {builder.output<int32_t>("lookup_index"), builder.output("min_delta"),
                   builder.output<int32_t>("min_delta_index")};
    given.fault = take_overflows(builder);
    given.room = builder.take_faults(1, [most = batch * detectors](int64_t, int32_t) {
        return "The events do not fit into their buffer of " + std::to_string(most) + ".";
    });
    weights = count_of_weights(builder.request());
    if (runs_backward(p)) given.dy = builder.input("dy");
}

cuda::KernelSource CudaJob::source(const char* file, const char* entry, int64_t threads) const {
    return {std::string("kernels/lut/cuda/") + file, entry, defines_of(*this), threads};
}

}  // namespace sawtooth::lut

#include "kernels/lut/cuda/job.h"

#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut {

CudaJob::CudaJob(cuda::PlanBuilder& builder) : Sizes(builder.parameters()) {
    static_cast<CommonArguments&>(given) = common_arguments(builder, batch);
    given.choices = batch;
    given.room = builder.take_faults(1, [most = batch * detectors](int64_t, int32_t) {
        return "The events do not fit into their buffer of " + std::to_string(most) + ".";
    });
}

cuda::KernelSource CudaJob::source(const char* file, const char* entry, int64_t threads) const {
    return {std::string("kernels/lut/cuda/") + file, entry, defines_of(*this), threads};
}

}  // namespace sawtooth::lut

#pragma once

#include <stop_token>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// Measures the limits of a GPU: copy and triad bandwidth, f32 arithmetic, bf16 products on the tensor cores,
// and the cost of a launch. They are timed by CUDA events, without CUPTI. The caller fills in processor and
// date. Errors: cancelled; a failure of the GPU or the compiler, or too little memory.
Outcome<Ceilings> measure_gpu_ceilings(GpuTimer& timer, std::stop_token stop);

// A plan with one launch that copies `bytes` (at least 1) on the device.
Outcome<Plan> copy_plan(cuda::Device& device, int64_t bytes);
// A plan with empty launches.
Outcome<Plan> empty_launches_plan(cuda::Device& device, size_t count, Follow follow);

// A plan with one launch that does about that many operations in bf16 products on the tensor cores.
Outcome<Plan> products_plan(cuda::Device& device, double operations);

}  // namespace sawtooth

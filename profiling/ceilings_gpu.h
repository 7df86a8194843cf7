#pragma once

#include <stop_token>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// What a GPU does at most: copy and triad bandwidth, f32 arithmetic, bf16 products on the tensor cores, and
// what a launch costs. By CUDA events, while CUPTI does not record. Processor and date are the caller's to
// fill in. Errors: cancelled; a failure of the GPU or the compiler, or too little memory.
Outcome<Ceilings> measure_gpu_ceilings(GpuTimer& timer, std::stop_token stop);

// A plan of one launch that copies so many bytes (at least 1) from one place on the device to another.
Outcome<Plan> copy_plan(cuda::Device& device, int64_t bytes);
// A plan of empty launches.
Outcome<Plan> empty_launches_plan(cuda::Device& device, size_t count, Follow follow);

}  // namespace sawtooth

#pragma once

#include "kernels/attention/cpu/job.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::attention {

// The job of a request. Adds the launch that prepares its inputs: rotations of q and k, numbers in f32,
// transposed keys and values.
CpuJob prepared_job(cpu::PlanBuilder& builder);

// Adds the launches that finish the outputs: o in its own storage, and dq and dk through the rotations.
void add_epilogue(cpu::PlanBuilder& builder, const CpuJob& job);

}  // namespace sawtooth::attention

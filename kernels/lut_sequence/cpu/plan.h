#pragma once

#include "kernels/cpu/plan_builder.h"
#include "kernels/lut_sequence/cpu/job.h"

namespace sawtooth::lut_sequence {

// The plan of a variant: the launches that find the bits of positions and distances, then, if there is a
// pair, those of the variant for floats or for integers.
using AddLaunches = void (*)(cpu::PlanBuilder& builder, const CpuJob& job);
Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches of_floats, AddLaunches of_integers);

}  // namespace sawtooth::lut_sequence

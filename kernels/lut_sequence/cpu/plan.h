#pragma once

#include "kernels/cpu/plan_builder.h"
#include "kernels/lut_sequence/cpu/job.h"

namespace sawtooth::lut_sequence {

// The plan of a variant: the launches that find the bits of positions and distances, then its own, by one of
// the two ways to add, if there is a pair.
using AddLaunches = void (*)(cpu::PlanBuilder& builder, const CpuJob& job);
Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches of_floats, AddLaunches of_integers);

}  // namespace sawtooth::lut_sequence

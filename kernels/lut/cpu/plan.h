#pragma once

#include "kernels/lut/launches.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/cpu/launches.h"

namespace sawtooth::lut {

// The plan of a variant, by one of the two ways to add.
using AddLaunches = void (*)(cpu::PlanBuilder& builder, const Tensors& job);
inline Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches of_floats, AddLaunches of_integers) {
    cpu::PlanBuilder builder(request);
    const Tensors& job = builder.keep(Tensors(builder));
    (job.integer ? of_integers : of_floats)(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::lut

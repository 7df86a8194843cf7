#pragma once

#include "kernels/lut/launches.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/cpu/launches.h"

namespace sawtooth::lut {

// Adds the launches of a variant; there is one such function for each arithmetic (lut_table/cpu/sums.h).
using AddLaunches = void (*)(cpu::PlanBuilder& builder, const Tensors& job);
inline Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches of_floats, AddLaunches of_integers) {
    cpu::PlanBuilder builder(request);
    const Tensors& job = builder.keep(Tensors(builder));
    (job.integer ? of_integers : of_floats)(builder, job);
    finish_gradients(builder, job, {job.dweights});
    return builder.finish();
}

}  // namespace sawtooth::lut

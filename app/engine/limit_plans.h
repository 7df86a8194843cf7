#pragma once

#include "app/engine/machine.h"
#include "kernels/core/family.h"
#include "kernels/core/plan.h"

namespace sawtooth {

// What times are held against, as plans for the machine that the variants run on. They throw bad_alloc where
// the CPU has too little memory; the GPU's failures are returned.

// One launch that reads and writes so many bytes together, half of them each.
Outcome<Plan> copy_plan(const Machine& machine, double bytes);
// The limit of a case of bench for a variant with the plan `of`, which moves `bytes`; a GPU copies for a
// triad, too.
Outcome<Plan> limit_plan(const Machine& machine, BenchCase::Limit limit, double bytes, const Plan& of);

}  // namespace sawtooth

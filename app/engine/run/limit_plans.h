#pragma once

#include "app/engine/machine/machine.h"
#include "kernels/core/family.h"
#include "kernels/core/plan.h"

namespace sawtooth {

// Plans that give the baselines of times, for the machine of the variants. They throw bad_alloc if the CPU
// has too little memory; GPU failures are returned.

// One launch that reads and writes `bytes` in total, half each.
Outcome<Plan> copy_plan(const Machine& machine, double bytes);
// The limit of a bench case, for a variant with that work and that plan. On a GPU a copy also replaces a
// triad.
Outcome<Plan> limit_plan(const Machine& machine, BenchCase::Limit limit, const Work& work,
                         const Plan& measured);

}  // namespace sawtooth

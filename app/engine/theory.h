#pragma once

#include <vector>

#include "app/engine/configure.h"
#include "kernels/core/plan.h"
#include "kernels/core/result.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

// What is known of a plan's launches without running them, each kind once: launches that differ in their
// arguments alone are one kind.
std::vector<CompiledLaunch> compiled_launches(const Plan& plan, const Chip& chip);

// Compiles the CUDA form of every variant for a chip that need not be there and fills in `compiled`; variants
// that the result does not have yet are added as ones that did not run. What cannot be compiled is a note.
void add_theory(const Configuration& for_cuda, const Arrays& inputs, cuda::Device& chip, Result& result);

}  // namespace sawtooth

#pragma once

#include <vector>

#include "app/engine/run/configure.h"
#include "kernels/core/plan.h"
#include "kernels/core/result.h"
#include "kernels/cuda/device.h"

namespace sawtooth {

// The properties of a plan's launches that are known without running them, with one entry per kind of launch:
// launches that differ only in their arguments are of one kind.
std::vector<CompiledLaunch> compiled_launches(const Plan& plan, const Chip& chip);

// Compiles the CUDA implementation of every variant for a chip that need not be present and fills in
// `compiled`. Variants that the result lacks are added as ones that did not run. A variant that refuses these
// parameters or cannot be compiled becomes a note with the reason. Once stopped, the remaining variants are
// left out.
void add_theory(const Configuration& for_cuda, const Arrays& inputs, cuda::Device& chip,
                const std::stop_token& stop, Result& result);

}  // namespace sawtooth

#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut/cuda/arguments.cuh"

namespace sawtooth::lut {

// Launches that both families add.

// Thread blocks along y, of which a grid has at most 65535: kernels loop over the rest.
Side side_y(const std::string& name, int64_t count);
void add_clear(cuda::PlanBuilder& builder, const ArrayUse& array, void* at, int64_t block);
// Nothing for an empty array.
void add_convert(cuda::PlanBuilder& builder, const ArrayUse& array, const Convert& convert, int64_t block);

}  // namespace sawtooth::lut

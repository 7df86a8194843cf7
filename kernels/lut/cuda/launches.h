#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut/sizes.h"

namespace sawtooth::lut {

// What both families take and launch.

// The weights of a request on the GPU.
Table table_of(cuda::PlanBuilder& builder);
// Of all neurons.
int64_t count_of_weights(const PlanRequest& request);
// The factor of a term before it becomes an integer.
double scale_of(const Parameters& parameters);

// Thread blocks along y, of which a grid has at most 65535: kernels loop over the rest.
Side side_y(const std::string& name, int64_t count);
// Both do nothing for an empty array.
void add_clear(cuda::PlanBuilder& builder, const ArrayUse& array, void* at, int64_t block);
void add_convert(cuda::PlanBuilder& builder, const ArrayUse& array, const Convert& convert, int64_t block);

// The macros of the device headers.
cuda::Defines defines_of(const Sizes& sizes);
// Numbers of x that a kernel keeps in shared memory for so many items; 0 if they do not fit.
int64_t staged_inputs(int64_t items, int64_t inputs);

// A row of sums per warp in shared memory (rows.cuh): sets the threads, the memory and the macros of the
// kernel. If none fits, the rows lie in the memory that is returned, one for each thread block.
void* take_rows(cuda::PlanBuilder& builder, int64_t blocks, int64_t width, int64_t sum_bytes,
                cuda::KernelSource& source);
// Threads that have four neighbouring outputs each: all outputs, or as many as there are; a power of two.
int64_t lanes_of(int64_t outputs, int64_t threads);
// Groups of these (groups.cuh) for each of so many items of a thread block.
void add_groups(cuda::KernelSource& source, int64_t outputs, int64_t items);

void add_weight_gradients(cuda::PlanBuilder& builder, LaunchInfo info, const Sizes& sizes,
                          const Arguments& given);

}  // namespace sawtooth::lut

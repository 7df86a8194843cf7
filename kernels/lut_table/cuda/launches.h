#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut_table/cuda/arguments.cuh"
#include "kernels/lut_table/launches.h"

namespace sawtooth::lut_table {

// Arguments and launches that both families have.

// The arguments with the arrays of the request. `choices` is the number of times that a detector chooses a
// row.
CommonArguments common_arguments(cuda::PlanBuilder& builder, const Tensors& t, int64_t choices);

// The thread blocks along y, at most 65535, the limit of a grid: kernels loop over the rest.
Side side_y(const std::string& name, int64_t count);
// Adds the launch that clears an array, unless the array is empty.
void add_clear(cuda::PlanBuilder& builder, const Buffer& array, int64_t block);
// Adds the launch that turns integer sums into the output.
void add_convert(cuda::PlanBuilder& builder, const Tensors& t, const Buffer& sums, const Buffer& output,
                 Fault fault, const CommonArguments& given, int64_t block);
// Adds the launch that compares the pairs of all detectors.
void add_check(cuda::PlanBuilder& builder, LaunchInfo info, const Grid& grid, const Sizes& sizes,
               const CommonArguments& given, int64_t block);

// The macros that the device headers need.
cuda::Defines defines_of(const Sizes& sizes);
// The numbers of x that a kernel keeps in shared memory for `items` items; 0 if they do not fit.
int64_t staged_inputs(int64_t items, int64_t inputs);

// Sets threads, shared memory and macros of a kernel with a row of sums per warp (rows.cuh). If not even one
// row fits into shared memory, the returned array has a row for each thread block.
Buffer take_rows(cuda::PlanBuilder& builder, const Tensors& t, int64_t blocks, int64_t width,
                 cuda::KernelSource& source);
// The number of lanes of a group (groups.cuh), each with outputs_of_thread neighbouring outputs: enough for
// all outputs, at most `threads`, a power of two.
int64_t lanes_of(int64_t outputs, int64_t threads);
// Sets the macros of groups.cuh for a thread block with `items` items.
void add_groups(cuda::KernelSource& source, int64_t outputs, int64_t items);

// Adds the launches that follow the final gradients and the updated weights.
void finish_gradients(cuda::PlanBuilder& builder, const Tensors& t, const Buffers& gradients);

void add_weight_gradients(cuda::PlanBuilder& builder, LaunchInfo info, const Sizes& sizes,
                          const CommonArguments& given);

}  // namespace sawtooth::lut_table

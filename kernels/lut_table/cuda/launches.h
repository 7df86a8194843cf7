#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut_table/cuda/arguments.cuh"
#include "kernels/lut_table/launches.h"

namespace sawtooth::lut_table {

// What both families take and launch.

// `choices`: how often a detector chooses a row. Arrays are those of the request.
CommonArguments common_arguments(cuda::PlanBuilder& builder, const Tensors& t, int64_t choices);

// Thread blocks along y, of which a grid has at most 65535: kernels loop over the rest.
Side side_y(const std::string& name, int64_t count);
// Does nothing for an empty array.
void add_clear(cuda::PlanBuilder& builder, const Buffer& array, int64_t block);
// Sums of integers become the output.
void add_convert(cuda::PlanBuilder& builder, const Tensors& t, const Buffer& sums, const Buffer& output,
                 Fault fault, const CommonArguments& given, int64_t block);
// The comparisons of all detectors.
void add_check(cuda::PlanBuilder& builder, LaunchInfo info, const Grid& grid, const Sizes& sizes,
               const CommonArguments& given, int64_t block);

// The macros of the device headers.
cuda::Defines defines_of(const Sizes& sizes);
// Numbers of x that a kernel keeps in shared memory for so many items; 0 if they do not fit.
int64_t staged_inputs(int64_t items, int64_t inputs);

// A row of sums per warp in shared memory (rows.cuh): sets the threads, the memory and the macros of the
// kernel. If none fits, the rows lie in the array that is returned, one for each thread block.
Buffer take_rows(cuda::PlanBuilder& builder, const Tensors& t, int64_t blocks, int64_t width,
                 cuda::KernelSource& source);
// Threads that have four neighbouring outputs each: all outputs, or as many as there are; a power of two.
int64_t lanes_of(int64_t outputs, int64_t threads);
// Groups of these (groups.cuh) for each of so many items of a thread block.
void add_groups(cuda::KernelSource& source, int64_t outputs, int64_t items);

void add_weight_gradients(cuda::PlanBuilder& builder, LaunchInfo info, const Sizes& sizes,
                          const CommonArguments& given);

}  // namespace sawtooth::lut_table

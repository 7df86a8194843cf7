#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut_table/cuda/arguments.cuh"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// What both families take and launch.

// Inputs and the outputs of detectors, for so many items. Other memory is null.
CommonArguments common_arguments(cuda::PlanBuilder& builder, int64_t items);

// Thread blocks along y, of which a grid has at most 65535: kernels loop over the rest.
Side side_y(const std::string& name, int64_t count);
// Does nothing for an empty array.
void add_clear(cuda::PlanBuilder& builder, const Buffer& array, void* at, int64_t block);
// Cleared sums that become an output: the output itself, or integers, which add_convert converts.
void* add_sums(cuda::PlanBuilder& builder, const Buffer& sums, int64_t block);
void add_convert(cuda::PlanBuilder& builder, const Buffer& sums, const void* from, Fault fault,
                 const CommonArguments& given, int64_t block);
// The output weights_after; null unless it is used. Sums of floats are subtracted where they are added, so
// that it starts as the weights.
float* take_weights_after(cuda::PlanBuilder& builder, const Buffer& dweights, const Table& table);

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
                          const CommonArguments& given);

}  // namespace sawtooth::lut_table

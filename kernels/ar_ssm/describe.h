#pragma once

#include <utility>

#include "kernels/ar_ssm/sizes.h"
#include "kernels/core/launch.h"

namespace sawtooth::ar_ssm::describe {

// The launches of the family on both backends. Grids are filled in by plan builders. Values between launches
// are stored in the storage of x on CUDA and in f32 on the CPU; scans and gradients of ranks are f32 on both.
// An array that a launch writes and reads again counts as written.

// Along the sequence, or from its end, if the layer is bidirectional.
enum class Direction { forward, reverse };

// Of the variant unfused; the scans between them are described by the family scan.
LaunchInfo convolve(const PlanRequest& request);
LaunchInfo hidden(const PlanRequest& request);
LaunchInfo gates(const PlanRequest& request);
LaunchInfo effective_rank(const PlanRequest& request);
LaunchInfo project_u(const PlanRequest& request);
LaunchInfo project_v(const PlanRequest& request);
LaunchInfo multiply(const PlanRequest& request, Direction direction);
LaunchInfo project_out(const PlanRequest& request, Direction direction);
LaunchInfo add(const PlanRequest& request);

LaunchInfo w_gradient(const PlanRequest& request);
LaunchInfo factor_gradients(const PlanRequest& request);
LaunchInfo gate_gradients(const PlanRequest& request);
LaunchInfo hidden_gradient(const PlanRequest& request);
// Of the weight with that name; out_proj has a launch for each direction.
LaunchInfo weight_gradient(const PlanRequest& request, const char* weight,
                           Direction direction = Direction::forward);
// The part of dx that comes through the weight: conv sets dx, gate_w1, u_proj and v_proj add to it.
LaunchInfo x_gradient(const PlanRequest& request, const char* weight);

// Of the variant fused; `tile`: positions that one thread block, or one item of the pool, computes at once.
LaunchInfo project(const PlanRequest& request, int64_t tile);
LaunchInfo scan_and_output(const PlanRequest& request, int64_t tile);
LaunchInfo output_gradients(const PlanRequest& request, int64_t tile);
LaunchInfo input_gradients(const PlanRequest& request, int64_t tile);
LaunchInfo weight_gradients(const PlanRequest& request);

// A launch that sums gradients over tokens as two: one for each of `parts` parts of the tokens, and "sum_" of
// its name, which adds the parts.
std::pair<LaunchInfo, LaunchInfo> in_parts(LaunchInfo summing, int64_t parts);

}  // namespace sawtooth::ar_ssm::describe

#pragma once

#include "kernels/core/family.h"
#include "kernels/core/launch.h"

namespace sawtooth::attention::describe {

// Descriptions of the launches, shared by both backends: name, meaning, arrays and operations. On CUDA inputs
// and o are in the storage of the request; everything else is f32, as are these on the CPU.

// Of streaming.
LaunchInfo forward(const PlanRequest& request);
LaunchInfo preprocess(const PlanRequest& request);
// `groups` of key tiles have a dq each; `products` of rows of D per pair.
LaunchInfo backward(const PlanRequest& request, int64_t groups, int products);
LaunchInfo sum_groups(const PlanRequest& request, int64_t groups);

// Of naive.
LaunchInfo scores(const PlanRequest& request);
LaunchInfo softmax(const PlanRequest& request);
LaunchInfo values(const PlanRequest& request);
LaunchInfo score_gradients(const PlanRequest& request);
LaunchInfo gradients_of_queries(const PlanRequest& request);
LaunchInfo gradients_of_keys(const PlanRequest& request);

// The last launch if the input was q and k.
LaunchInfo rotate_back(const PlanRequest& request);

}  // namespace sawtooth::attention::describe

#pragma once

#include "kernels/core/family.h"
#include "kernels/core/launch.h"

namespace sawtooth::attention::describe {

// Descriptions of the launches, shared by both backends: name, meaning, arrays and operations.

// Of streaming.
LaunchInfo forward(const Parameters& parameters);
LaunchInfo preprocess(const Parameters& parameters);
// `groups` of key tiles have a dq each; `products` of rows of D per pair.
LaunchInfo backward(const Parameters& parameters, int64_t groups, int products);
LaunchInfo sum_groups(const Parameters& parameters, int64_t groups);

// Of naive.
LaunchInfo scores(const Parameters& parameters);
LaunchInfo softmax(const Parameters& parameters);
LaunchInfo values(const Parameters& parameters);
LaunchInfo score_gradients(const Parameters& parameters);
LaunchInfo gradients_of_queries(const Parameters& parameters);
LaunchInfo gradients_of_keys(const Parameters& parameters);

// The last launch if the input was q and k.
LaunchInfo rotate_back(const Parameters& parameters);

}  // namespace sawtooth::attention::describe

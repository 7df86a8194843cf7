#pragma once

#include "kernels/core/family.h"
#include "kernels/core/launch.h"

namespace sawtooth::attention::describe {

// Descriptions of the launches, shared by both backends: name, meaning, arrays and operations.

// Of streaming.
LaunchInfo forward(const Parameters& parameters);
LaunchInfo preprocess(const Parameters& parameters);
LaunchInfo backward(const Parameters& parameters, int64_t groups);  // of key tiles, each with its own dq
LaunchInfo sum_groups(const Parameters& parameters, int64_t groups);

// Of naive.
LaunchInfo scores(const Parameters& parameters);
LaunchInfo softmax(const Parameters& parameters);
LaunchInfo values(const Parameters& parameters);
LaunchInfo score_gradients(const Parameters& parameters);
LaunchInfo gradients_of_queries(const Parameters& parameters);
LaunchInfo gradients_of_keys(const Parameters& parameters);

}  // namespace sawtooth::attention::describe

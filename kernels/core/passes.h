#pragma once

#include "kernels/core/common_parameters.h"
#include "kernels/core/plan.h"

namespace sawtooth {

// The plan of a variant with a forward and perhaps a backward pass, which Launches adds to its Builder.
template <class Builder, class Launches>
Outcome<Plan> plan_in_passes(const PlanRequest& request) {
    Builder builder(request);
    Launches launches(builder);
    launches.add_forward();
    if (runs_backward(request.parameters)) launches.add_backward();
    return builder.finish();
}

}  // namespace sawtooth

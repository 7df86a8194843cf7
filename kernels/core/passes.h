#pragma once

#include "kernels/core/common_parameters.h"
#include "kernels/core/plan.h"

namespace sawtooth {

// Makes the plan of a variant with a forward and possibly a backward pass, whose launches the class Launches
// adds to a Builder.
template <class Builder, class Launches>
Outcome<Plan> plan_in_passes(const PlanRequest& request) {
    Builder builder(request);
    Launches launches(builder);
    launches.add_forward();
    if (runs_backward(request.parameters)) launches.add_backward();
    return builder.finish();
}

}  // namespace sawtooth

#pragma once

#include "tests/scale/family.h"

namespace sawtooth {

// The family scale with a kernel that is wrong from the 65th number of every sequence on.
inline const Family& broken_family() {
    static const Family family = [] {
        Family made = scale_family();
        made.name = "broken";
        made.variants.front().plan_cpu = [](const PlanRequest& request) -> Outcome<Plan> {
            auto plan = scale_family().variants.front().plan_cpu(request);
            if (!plan) return plan;
            const int64_t length = request.parameters.integer("length");
            plan->outputs = [right = plan->outputs, length]() -> Outcome<Arrays> {
                auto outputs = right();
                if (!outputs) return outputs;
                const auto y = outputs->front().as<float>();
                for (size_t i = 0; i < y.size(); ++i)
                    if (static_cast<int64_t>(i) % length >= 64) y[i] *= 1.0001f;
                return outputs;
            };
            return plan;
        };
        return made;
    }();
    return family;
}

}  // namespace sawtooth

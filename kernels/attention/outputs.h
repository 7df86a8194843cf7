#pragma once

#include "kernels/core/plan_builder.h"

namespace sawtooth::attention {

// The outputs beside o, which every backend computes in f32. Gradients are null without a backward pass, dq
// and dk also if the input was not q and k.
struct Outputs {
    float *lse = nullptr, *delta = nullptr;
    float *dq1 = nullptr, *dq2 = nullptr, *dk1 = nullptr, *dk2 = nullptr, *dv = nullptr;
    float *dq = nullptr, *dk = nullptr;

    void take(PlanBuilder& builder) {
        lse = builder.output("lse");
        delta = builder.output("delta");
        dq1 = builder.output("dq1");
        dq2 = builder.output("dq2");
        dk1 = builder.output("dk1");
        dk2 = builder.output("dk2");
        dv = builder.output("dv");
        dq = builder.output("dq");
        dk = builder.output("dk");
    }
};

}  // namespace sawtooth::attention

#pragma once

#include <string>

#include "kernels/core/plan_builder.h"
#include "kernels/lut_table/records.cuh"

namespace sawtooth::lut_table {

// Takes the numbers that Fault names: a sum that leaves int32 sets one of them, which fails the run.
inline int32_t* take_overflows(PlanBuilder& builder) {
    const double rescale = builder.parameters().real("rescale");
    return builder.take_faults(5, [rescale](int64_t array, int32_t) {
        static const char* const names[] = {"y", "gradient_sums", "dx", "dpositional", "dweights"};
        return std::string("A sum of ") + names[array] +
               " does not fit into 32 bits with rescale = " + to_text(Value(rescale)) +
               ". Use a smaller rescale.";
    });
}

}  // namespace sawtooth::lut_table

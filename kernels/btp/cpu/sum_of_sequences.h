#pragma once

#include "kernels/btp/tensors.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::btp {

// Adds the launch that computes da, the sum of da_of_sequences, where the batch shares its gates.
void add_sum_of_sequences(cpu::PlanBuilder& builder, const Tensors& job);

}  // namespace sawtooth::btp

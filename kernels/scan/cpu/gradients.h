#pragma once

#include "kernels/scan/job.h"

namespace sawtooth::scan {

// The launches of the backward pass besides its scan.
void add(cpu::PlanBuilder& builder, const Stage& stage, const ShiftGates& shift);
void add(cpu::PlanBuilder& builder, const Stage& stage, const OutputGates& gates);
void add(cpu::PlanBuilder& builder, const Stage& stage, const GateGradient& gradient);
void add(cpu::PlanBuilder& builder, const Stage& stage, const InputGradient& gradient);

}  // namespace sawtooth::scan

#pragma once

#include <stop_token>
#include <vector>

#include "kernels/core/common_parameters.h"
#include "kernels/core/family.h"
#include "kernels/cpu/row_scan.h"

namespace sawtooth::scan {

using cpu::Operator;

// What family.cpp puts together; one file each.

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);

Plan plan_sequential(const PlanRequest& request);
Plan plan_hillis_steele(const PlanRequest& request);
Plan plan_blelloch(const PlanRequest& request);
Plan plan_three_phase(const PlanRequest& request);
Plan plan_lookback(const PlanRequest& request);

Outcome<Plan> plan_sequential_cuda(const PlanRequest& request);
Outcome<Plan> plan_hillis_steele_cuda(const PlanRequest& request);
Outcome<Plan> plan_blelloch_cuda(const PlanRequest& request);
Outcome<Plan> plan_three_phase_cuda(const PlanRequest& request);
Outcome<Plan> plan_lookback_cuda(const PlanRequest& request);

std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);

Operator operator_of(const Parameters& parameters);
int64_t block_size_of(const Parameters& parameters);

}  // namespace sawtooth::scan

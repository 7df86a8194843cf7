#pragma once

#include <stop_token>
#include <vector>

#include "kernels/ar_ssm/sizes.h"

namespace sawtooth::ar_ssm {

// The parts of the family, one file each; family.cpp assembles them.

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
// All variants have the definition of the reference.
Outcome<Arrays> definition(const DefinitionRequest& request);
int64_t definition_bytes(const Parameters& parameters);
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters, const Arrays& inputs);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request);

}  // namespace sawtooth::ar_ssm

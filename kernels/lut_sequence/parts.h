#pragma once

#include <stop_token>
#include <vector>

#include "kernels/lut_sequence/sizes.h"

namespace sawtooth::lut_sequence {

using namespace lut_table;

// The parts of the family lut_sequence, one file each; family.cpp assembles them.

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
Outcome<Arrays> unrounded_reference(const Parameters& parameters, const Arrays& inputs, bool extras,
                                    std::stop_token stop);
Outcome<Arrays> definition(const DefinitionRequest& request);
Work work(const Parameters& parameters, const Arrays& inputs);
double probes_of_crowded_table(const Parameters& parameters);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request);

}  // namespace sawtooth::lut_sequence

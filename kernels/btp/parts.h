#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "kernels/btp/sizes.h"

namespace sawtooth::btp {

// The parts of the family, one file each; family.cpp assembles them.

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
Outcome<Arrays> definition(const DefinitionRequest& request);

// Returns Lmat of one block, [n, n] row-major, from its n gates, as the variants on the CPU multiply with it.
// It is computed in f32, except with the construction `exact`, which computes in f64 and rounds.
std::vector<float> transfer_matrix(Construction construction, std::span<const float> gates);

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters, const Arrays& inputs);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

Outcome<Plan> plan_sequential_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_two_pass_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_decode_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_sequential_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_two_pass_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_decode_on_cuda(const PlanRequest& request);

}  // namespace sawtooth::btp

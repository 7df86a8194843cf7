#pragma once

#include <stop_token>
#include <vector>

#include "kernels/lut/sizes.h"

namespace sawtooth::lut {

// The parts of the family lut, one file each; family.cpp assembles them.

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
Outcome<Arrays> definition(const DefinitionRequest& request);
// Also of lut_sequence.
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters);
// Of the tables of both families, of which detectors choose so many rows in all: every array is read or
// written once, and of the weights only the rows that can be touched. A generated neuron has half of
// `synapses_per_neuron` synapses on average.
Work table_work(const Parameters& parameters, double choices);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<FigureSweep> sweeps(const Parameters& parameters);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

Outcome<Plan> plan_unfused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_unfused_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request);

}  // namespace sawtooth::lut

#pragma once

#include <stop_token>

#include "kernels/core/family.h"

namespace sawtooth::attention {

// The parts of the family, one file each; family.cpp assembles them.

// Computes all outputs in f64: every row while Z H N^2 D <= 2^30, otherwise chosen rows.
Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
// Computes chosen rows at any size. The array `rows` lists the chosen queries, which are of all heads, and
// `key_rows` the chosen keys, which are of the first head (chosen_rows.h).
Outcome<Arrays> reference_of_chosen_rows(const Parameters& parameters, const Arrays& inputs,
                                         std::stop_token stop);
// Computes what `reference` does, as every variant has the same definition.
Outcome<Arrays> definition(const DefinitionRequest& request);

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters, const Arrays& inputs);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

Outcome<Plan> plan_naive_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_streaming_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_naive_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_streaming_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_wgmma_on_cuda(const PlanRequest& request);
// The dynamic shared memory of a thread block of streaming and of streaming_wgmma, in the passes of both.
int64_t forward_shared_bytes(const Parameters& parameters);
int64_t backward_shared_bytes(const Parameters& parameters);
int64_t warpgroup_shared_bytes(const Parameters& parameters);
int64_t warpgroup_backward_bytes(const Parameters& parameters);
// The queries that a step of backward_wgmma.cu takes; 0 if it cannot have these tiles, and streaming_wgmma
// has the backward pass of streaming.
int64_t backward_step(const Parameters& parameters);
// The registers that a thread of streaming_wgmma needs for sums, scores and probabilities.
int64_t warpgroup_registers(const Parameters& parameters);

}  // namespace sawtooth::attention

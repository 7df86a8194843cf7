#pragma once

#include <stop_token>

#include "kernels/core/family.h"

namespace sawtooth::attention {

// The parts of the family, one file each; family.cpp assembles them.

// All outputs in f64: whole while Z H N^2 D <= 2^30, otherwise of chosen rows.
Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop);
// Of chosen rows at any size. `rows` lists those of queries, of all heads, and `key_rows` those of keys, of
// the first head: gradients of keys need the forward pass of every query.
Outcome<Arrays> reference_of_chosen_rows(const Parameters& parameters, const Arrays& inputs,
                                         std::stop_token stop);
// Every variant computes the reference.
Outcome<Arrays> definition(const DefinitionRequest& request);

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop);
Work work(const Parameters& parameters);
std::vector<BenchCase> bench_cases(Backend backend);
std::vector<Figure> figures(const Result& result, const View& view);
std::vector<StoryRow> story();
About about();

Outcome<Plan> plan_naive_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_streaming_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_naive_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_streaming_on_cuda(const PlanRequest& request);
Outcome<Plan> plan_wgmma_on_cuda(const PlanRequest& request);
// Dynamic shared memory per thread block: streaming, streaming_wgmma, and the backward pass of both.
int64_t forward_shared_bytes(const Parameters& parameters);
int64_t warpgroup_shared_bytes(const Parameters& parameters);
int64_t backward_shared_bytes(const Parameters& parameters);
// Registers of a thread of streaming_wgmma for sums, scores and probabilities.
int64_t warpgroup_registers(const Parameters& parameters);

}  // namespace sawtooth::attention

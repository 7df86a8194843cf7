#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/plan_builder.h"
#include "kernels/memory/job.h"

namespace sawtooth::memory {

// The strategies on a GPU. Each adds its launches, in order, and takes the memory that it needs between them.
void add_sequential(cuda::PlanBuilder& builder, const Job& job);
void add_sequential_persistent(cuda::PlanBuilder& builder, const Job& job);
// atlas_parallel too: where what tokens add does not depend on the memory, chunkwise_gd adds up all tiles at
// once and scans their sums, which is what atlas_parallel stands for.
void add_chunkwise_gd(cuda::PlanBuilder& builder, const Job& job);
void add_associative_scan(cuda::PlanBuilder& builder, const Job& job);
void add_tnt(cuda::PlanBuilder& builder, const Job& job);
void add_lattice_gla(cuda::PlanBuilder& builder, const Job& job);
void add_exact_chunk(cuda::PlanBuilder& builder, const Job& job);
// 1 where a level fires, [length].
void add_pulse(cuda::PlanBuilder& builder, const Job& level, int32_t* to);

// What no strategy can do on that chip, in words.
std::optional<std::string> check_on_cuda(const Parameters& parameters, const Chip& chip);
// What a strategy cannot do there, of a job without arrays.
std::optional<std::string> check_sequential(const Job& job, const Chip& chip);
std::optional<std::string> check_sequential_persistent(const Job& job, const Chip& chip);
std::optional<std::string> check_chunkwise_gd(const Job& job, const Chip& chip);
std::optional<std::string> check_associative_scan(const Job& job, const Chip& chip);
std::optional<std::string> check_tnt(const Job& job, const Chip& chip);
std::optional<std::string> check_lattice_gla(const Job& job, const Chip& chip);

}  // namespace sawtooth::memory

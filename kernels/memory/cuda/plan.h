#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/memory/cuda/arguments.cuh"
#include "kernels/memory/job.h"
#include "kernels/memory/tiling.h"

// What the CUDA files of this folder share; strategies.h is what others see.
namespace sawtooth::memory {

// Token by token: `tokens` of them in every launch, the state in memory between launches.
void add_matrix_steps(cuda::PlanBuilder& builder, const Job& job, int64_t tokens);
void add_trellis_steps(cuda::PlanBuilder& builder, const Job& job, int64_t tokens);
void add_slot_steps(cuda::PlanBuilder& builder, const Job& job, int64_t tokens);

// In chunks. Ranges of tiles are as long as `room` bytes of scratch allow, but a whole chunk at least; each
// goes on from the state that the one before left.
constexpr int64_t usual_room = int64_t{1} << 29;
void add_matrix_tiles(cuda::PlanBuilder& builder, const Job& job, bool solves, int64_t room = usual_room);
void add_trellis_tiles(cuda::PlanBuilder& builder, const Job& job, int64_t room = usual_room);
// Slots are frozen at the boundaries of chunks; `update` is that of lattice.cu: sums or linearised.
void add_frozen_slots(cuda::PlanBuilder& builder, const Job& job, const char* update);

// Dynamic shared memory of a thread block of those.
int64_t exact_shared_bytes(const Job& job, int64_t tokens);
int64_t tree_shared_bytes(const Job& job);
int64_t lattice_shared_bytes(const Job& job, bool is_frozen, bool reads);

GateArguments arguments_of(const Gates& gates);
TilingArguments arguments_of(const Tiling& tiling, int64_t halo);
// Tiles of all sequences, as a launch's grid has them.
Grid tile_grid(const Tiling& tiling, int64_t batch);

}  // namespace sawtooth::memory

#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/plan_builder.h"
#include "kernels/memory/cuda/arguments.cuh"
#include "kernels/memory/job.h"
#include "kernels/memory/launches.h"

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
// That this is more shared memory than a thread block has there.
std::optional<std::string> check_shared_bytes(const Job& job, int64_t bytes, const Chip& chip);

// Shared memory of a strategy's largest thread block, of a job without arrays; 0: it fits what it is given.
namespace shared_bytes {
int64_t sequential(const Job& job);
int64_t sequential_persistent(const Job& job);
int64_t tnt(const Job& job);
int64_t associative_scan(const Job& job);
int64_t frozen(const Job& job);  // chunkwise_gd, lattice_gla
}  // namespace shared_bytes

// What the files of this folder share.

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

// What a launch over all tokens is given.
TokenArguments token_arguments(const Job& job);
// Takes memory for the states between launches.
void take_live(cuda::PlanBuilder& builder, const Job& job, TokenArguments& all);
// Leaves one of several launches: from the state that the one before left, to that of the one after.
void narrow(TokenArguments& all, Range tokens);
// A launch for every `tokens` tokens, one after another.
template <class Arguments>
void launch_steps(cuda::PlanBuilder& builder, const Job& job, int64_t tokens, const Grid& grid,
                  const cuda::KernelSource& source, Arguments all) {
    if (tokens < job.length) take_live(builder, job, all);
    builder.launch_steps(describe::tokens(job, tokens), grid, source, ceil_divide(job.length, tokens),
                         [all, tokens](int64_t step) {
                             Arguments mine = all;
                             const int64_t first = step * tokens;
                             narrow(mine, {first, std::min(first + tokens, all.length)});
                             return mine;
                         });
}

// The kernel of the file that is called like it.
cuda::KernelSource kernel(const std::string& name, int64_t threads, int64_t shared_bytes,
                          cuda::Defines defines = {});
TilingArguments arguments_of(const Tiling& tiling, int64_t halo);
// Tiles of all sequences, as a launch's grid has them.
Grid tile_grid(const Tiling& tiling, int64_t batch);

}  // namespace sawtooth::memory

#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/plan_builder.h"
#include "kernels/memory/cuda/arguments.cuh"
#include "kernels/memory/tensors.h"

namespace sawtooth::memory {

// The strategies on a GPU. Each adds its launches in order and takes the memory between them.
void add_sequential(cuda::PlanBuilder& builder, const Tensors& t);
void add_sequential_persistent(cuda::PlanBuilder& builder, const Tensors& t);
// This is also atlas_parallel: if updates do not depend on the memory, it sums all tiles in parallel and
// scans the sums.
void add_chunkwise_gd(cuda::PlanBuilder& builder, const Tensors& t);
void add_associative_scan(cuda::PlanBuilder& builder, const Tensors& t);
void add_tnt(cuda::PlanBuilder& builder, const Tensors& t);
void add_lattice_gla(cuda::PlanBuilder& builder, const Tensors& t);
void add_exact_chunk(cuda::PlanBuilder& builder, const Tensors& t);
// Writes 1 where a level fires, otherwise 0, to its [length] numbers of `pulse` from `first` on.
void add_pulse(cuda::PlanBuilder& builder, const Tensors& level, const Buffer& pulse, int64_t first);

// The reason why no strategy can run these parameters on the chip; absent if they can run.
std::optional<std::string> check_on_cuda(const Parameters& parameters, const Chip& chip);
// An error message if a thread block of the chip has less shared memory than `bytes`; absent if it fits.
std::optional<std::string> check_shared_bytes(const Sizes& sizes, int64_t bytes, const Chip& chip);

// The shared memory of a strategy's largest thread block in bytes, 0 if it always fits.
namespace shared_bytes {
int64_t sequential(const Sizes& sizes);
int64_t sequential_persistent(const Sizes& sizes);
int64_t tnt(const Sizes& sizes);
int64_t associative_scan(const Sizes& sizes);
int64_t frozen(const Sizes& sizes);  // chunkwise_gd, lattice_gla
}  // namespace shared_bytes

// The files of this folder share what follows.

constexpr int64_t float_bytes = 4;

// Add launches that walk token by token, `tokens` per launch. The state is in memory between launches.
void add_matrix_steps(cuda::PlanBuilder& builder, const Tensors& t, int64_t tokens);
void add_trellis_steps(cuda::PlanBuilder& builder, const Tensors& t, int64_t tokens);
void add_slot_steps(cuda::PlanBuilder& builder, const Tensors& t, int64_t tokens);

// The kernels of lattice and trellis token by token; `is_local` cuts the tokens into local memories of
// `tokens` tokens.
cuda::KernelSource slots_source(const Sizes& sizes, bool is_local);
cuda::KernelSource trellis_source(const Sizes& sizes, int64_t tokens, bool is_local);

// Add launches that walk in chunks. A range of tiles is as long as `room` bytes of scratch allow, but at
// least a whole chunk; it starts from the state that the previous range left.
constexpr int64_t usual_room = int64_t{1} << 29;
void add_matrix_tiles(cuda::PlanBuilder& builder, const Tensors& t, bool solves, int64_t room = usual_room);
void add_trellis_tiles(cuda::PlanBuilder& builder, const Tensors& t, bool rescales,
                       int64_t room = usual_room);
// Adds the launches for slots frozen at the boundaries of chunks. `update` is the macro UPDATE of lattice.cu:
// sums or linearised.
void add_frozen_slots(cuda::PlanBuilder& builder, const Tensors& t, const char* update);

// The dynamic shared memory of a thread block of these launches, in bytes.
int64_t exact_shared_bytes(const Sizes& sizes, int64_t tokens);
int64_t tree_shared_bytes(const Sizes& sizes);
int64_t lattice_shared_bytes(const Sizes& sizes, bool is_frozen, bool reads);

// The arguments of a launch over all tokens.
Arguments arguments_of(const Tensors& t);
// Narrows the arguments to one of several launches, which pass the state on through `live`.
void narrow(Arguments& all, Range tokens);
// Adds one launch for every `tokens` tokens, in order; `tokens` is 1 or the length.
void launch_steps(cuda::PlanBuilder& builder, const Tensors& t, int64_t tokens, const Grid& grid,
                  const cuda::KernelSource& source);

// The kernel `name` of the file `name`.cu.
cuda::KernelSource kernel(const std::string& name, int64_t threads, int64_t shared_bytes,
                          cuda::Defines defines = {});
TilingArguments arguments_of(const TiledRange& tiling, int64_t halo);
// The grid of a launch over the tiles of all sequences.
Grid tile_grid(const TiledRange& tiling, int64_t batch);

}  // namespace sawtooth::memory

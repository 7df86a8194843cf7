#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/cuda/plan_builder.h"
#include "kernels/memory/arguments.cuh"
#include "kernels/memory/job.h"
#include "kernels/memory/tiles.h"

namespace sawtooth::memory {

// A job of the family whose arrays lie in device memory, widths unpadded. Pointers are null where memory is
// only counted.
struct DeviceJob {
    Job sizes;  // rule, shape, window, which readout; its pointers are null
    cuda::Storage storage = cuda::Storage::as_is;  // of k, v, q, x and y
    std::string precision;                         // of products: f32, tf32, bf16
    int64_t chunk = 1;                             // tokens between boundaries
    const void *k = nullptr, *v = nullptr, *q = nullptr, *x = nullptr;
    device_side::Gates gates = {};
    float lambda_values = 0;  // trellis's second lambda
    const float* w_omega = nullptr;
    const float* slots = nullptr;
    const float *m0 = nullptr, *s0 = nullptr;      // of trellis sk0 and sv0
    float *final_m = nullptr, *final_s = nullptr;  // likewise; null: not stored
    float* boundaries = nullptr;                   // null: not stored
    int64_t boundary_count = 0;
    void* y = nullptr;
    int64_t y_stride = 0;  // from one sequence to the next, in elements
};

constexpr int64_t widest_on_gpu = 128;  // d

// The strategies. Each adds its launches, in order, and takes the memory that it needs between them.
void add_sequential(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_sequential_persistent(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_associative_scan(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_tnt(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_chunkwise_gd(cuda::PlanBuilder& builder, const DeviceJob& job);  // atlas_parallel too
void add_exact_chunk(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_lattice_gla(cuda::PlanBuilder& builder, const DeviceJob& job);
// 1 where a level fires, [length].
void add_pulse(cuda::PlanBuilder& builder, int32_t* to, int64_t length, int64_t chunk);

// Slots of lattice: exactly, in launches of so many tokens, or in chunks whose boundary's slots are frozen.
void add_slot_steps(cuda::PlanBuilder& builder, const DeviceJob& job, int64_t tokens);
enum class SlotChunks { sums, linearised };
void add_frozen_slots(cuda::PlanBuilder& builder, const DeviceJob& job, SlotChunks how);

// What a chip cannot do of it, in words.
std::optional<std::string> check_on_gpu(const Parameters& parameters, const std::string& strategy,
                                        const Chip& chip);

// Shared memory of a thread block, as much as the structs of the .cu files can take at the most.
int64_t walk_shared_bytes(const Job& sizes, int64_t word_bytes, int64_t tokens);  // of a launch
int64_t tree_shared_bytes(const Job& sizes, int64_t word_bytes);
int64_t slots_shared_bytes(const Job& sizes, bool is_frozen, bool reads);

// Words that several files use.
using Defines = std::vector<std::pair<std::string, std::string>>;
const char* name_of(cuda::Storage storage);  // of words.cuh
const char* name_of(UpdateRule rule);        // of strip.cuh
std::string text_of(int64_t number);
std::string text_of(bool flag);
inline int64_t ceil_divide(int64_t count, int64_t by) { return (count + by - 1) / by; }
inline int64_t padded_to(int64_t count, int64_t multiple) { return ceil_divide(count, multiple) * multiple; }
int64_t word_bytes(const DeviceJob& job);

// A launch in words, with what it costs at the least.
LaunchInfo describe_launch(std::string name, std::string meaning, std::string formula,
                           std::vector<ArrayUse> reads, std::vector<ArrayUse> writes, Work work);
std::vector<ArrayUse> vectors_of(const DeviceJob& job, int64_t tokens);  // k, v, q and what else tokens bring
ArrayUse y_of(const DeviceJob& job, int64_t tokens);

// Calls add(range) for every `tokens` tokens of a sequence, in order: a launch each, the state in memory
// between them.
template <class Add>
void add_steps(const Job& sizes, int64_t tokens, Add&& add) {
    for (int64_t first = 0; first < sizes.length; first += tokens)
        add(Range{first, std::min(first + tokens, sizes.length)});
}

}  // namespace sawtooth::memory

#pragma once

#include <stop_token>

#include "kernels/memory/cpu/job.h"

// What the table of strategies holds for the CPU: chunk_forward and room, one pair a strategy. A chain's
// strategies are in chain.h's terms; those of lattice and trellis stand in a file for each rule.
namespace sawtooth::memory {

namespace forward {
void sequential(cpu::PlanBuilder&, const CpuJob&, Range, float*);             // exact.cpp
void sequential_persistent(cpu::PlanBuilder&, const CpuJob&, Range, float*);  // exact.cpp
void tnt(cpu::PlanBuilder&, const CpuJob&, Range, float*);                    // exact.cpp
void chunkwise_gd(cpu::PlanBuilder&, const CpuJob&, Range, float*);           // chunkwise.cpp
void atlas_parallel(cpu::PlanBuilder&, const CpuJob&, Range, float*);         // chunkwise.cpp
void exact_chunk(cpu::PlanBuilder&, const CpuJob&, Range, float*);            // exact_chunk.cpp
void associative_scan(cpu::PlanBuilder&, const CpuJob&, Range, float*);       // associative_scan.cpp
void lattice_gla(cpu::PlanBuilder&, const CpuJob&, Range, float*);            // lattice.cpp
}  // namespace forward

namespace room {
int64_t tnt(const CpuJob&, Range);
int64_t chunkwise_gd(const CpuJob&, Range);  // atlas_parallel too
int64_t exact_chunk(const CpuJob&, Range);
int64_t associative_scan(const CpuJob&, Range);
int64_t lattice_gla(const CpuJob&, Range);
}  // namespace room

// Lattice (lattice.cpp) and trellis (trellis.cpp). Token by token, of one sequence; y goes to the job's.
void walk_lattice(const CpuJob& job, int64_t sequence, Range tokens, const std::stop_token& stop);
void walk_trellis(const CpuJob& job, int64_t sequence, Range tokens, const std::stop_token& stop);
// In chunks: chunkwise_gd.
void add_lattice_chunks(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* room);
void add_trellis_chunks(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* room);
int64_t room_of_trellis(const CpuJob& job, Range tokens);

// Calls block(tokens) for pieces of `tokens` that are loaded at once; looks at the stop token between them.
template <class Block>
void in_blocks(Range tokens, const std::stop_token& stop, Block&& block) {
    constexpr int64_t tokens_a_block = 64;
    for (int64_t first = tokens.first; first < tokens.last && !stop.stop_requested(); first += tokens_a_block)
        block(Range{first, std::min(first + tokens_a_block, tokens.last)});
}

}  // namespace sawtooth::memory

#pragma once

#include <stop_token>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/scratch.h"
#include "kernels/memory/job.h"

namespace sawtooth::memory {

using cpu::lanes;
using cpu::padded;
using cpu::strips_of;

// The effect of a token on a matrix: how much of it and of the momentum is kept, and the size of the step.
struct Gate {
    float decay = 1, keep = 0, step = 1;
};

// A chain whose state is stored in strips of 16 rows between launches (kernels/cpu/products.h): m.live and
// s.live are [batch, strips, columns, 16]; s.live is null without momentum. Strips are independent along the
// whole sequence, so workers own strips. An item is sequence * strips() + strip.
struct StripChain : Chain {
    StripChain() = default;
    StripChain(cpu::PlanBuilder& builder, Chain chain);

    int64_t strips() const { return strips_of(rows); }
    int64_t strip_size() const { return columns * lanes; }
    int64_t items() const { return batch * strips(); }
    Side sides() const;  // the items
    float* strip_of(float* states, int64_t item) const { return states + item * strip_size(); }
    float* m_of(int64_t item) const { return strip_of(m.live, item); }
    float* s_of(int64_t item) const { return s.live ? strip_of(s.live, item) : nullptr; }

    Gate gate(int64_t sequence, int64_t token) const;
    // The first token of the window that ends at `token`.
    int64_t first_source(int64_t token) const { return std::max<int64_t>(token - (window - 1), 0); }

    // Loads the state before the first token into strips; s may be null.
    void load_initial(int64_t item, float* m, float* s) const;
    void load_initial(int64_t item) const { load_initial(item, m_of(item), s_of(item)); }
    // Stores M, the strip of `item`, if a chunk starts at `token` and boundaries are stored.
    void put_boundary(int64_t item, int64_t token, const float* strip) const;
    // Stores the final state and the last boundary, after the last token.
    void put_final(int64_t item) const;
};

// One token on a strip of 16 rows of a memory, [columns, 16], for any `columns`.

// e = M k - v.
void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e);

// With momentum: S = keep S + u k^T, M = decay M + S. Without (`s` null): M = decay M + u k^T. Then y = M q.
struct StripStep {
    float* m = nullptr;
    float* s = nullptr;
    int64_t columns = 0;
    float decay = 1, keep = 0;
    const float* u = nullptr;  // [16]
    const float* k = nullptr;
    const float* q = nullptr;
    float* y = nullptr;  // [16]
};
void take_step(const StripStep& step);

// The coefficients w and h of a token's sources, padded(count) numbers each: h = keep h, then
// h[first … count - 1] += step, then w = decay w + h.
struct Coefficients {
    float *w = nullptr, *h = nullptr;
};
void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count);

// A job with its state between launches; m.live of lattice is [batch, slot_count, padded(d)]. Rows of inputs
// are widened to f32 and padded with zeros: a row of n numbers takes padded(n).
struct CpuJob : Job {
    StripChain memory;                // matrix rules; S_K of trellis
    StripChain values;                // S_V of trellis
    const float* w_strips = nullptr;  // W^T in strips of 16 rows, [strips, 2 padded(d), 16], keys first

    CpuJob(cpu::PlanBuilder& builder, const Job& job);

    // Loads rows of k, v, q or x unchanged; load_keys normalises them if the job does.
    void load(const void* from, int64_t sequence, Range tokens, float* to) const;
    void load_keys(const void* from, int64_t sequence, Range tokens, float* to) const;
    // The target that is subtracted from M k of a matrix rule: v, or -W silu([k; v]) with w_omega. Whole
    // rows, or the 16 numbers of one strip per token. `room`: room_of_values() numbers per token.
    void load_values(int64_t sequence, Range tokens, float* room, float* to) const;
    void load_strip_values(int64_t sequence, int64_t strip, Range tokens, float* room, float* to) const;
    int64_t room_of_values() const { return w_strips ? 4 * padded(d) : 0; }
    // Stores y: existing columns from `column` on for one token, or whole rows.
    void put(int64_t sequence, int64_t token, int64_t column, const float* from, int64_t count) const;
    void put_rows(int64_t sequence, Range tokens, const float* rows) const;
};

// Hands out consecutive pieces of a block of memory; with a null block it only counts.
class Pieces {
  public:
    explicit Pieces(float* block) : block_(block) {}
    float* take(int64_t count) {
        const int64_t at = taken_;
        taken_ += padded(count);
        return block_ ? block_ + at : nullptr;
    }
    int64_t taken() const { return taken_; }

  private:
    float* block_;
    int64_t taken_ = 0;
};

// Tokens per tile of matrix products. On a CPU larger tiles are not faster, and the work inside a tile grows
// with the square of its size.
constexpr int64_t usual_tile = 64;

// The CPU columns of the strategy table: chunk_forward and room, one pair per strategy. Strategies of a chain
// use chain.h; lattice and trellis have a file each.
namespace forward {
void sequential(cpu::PlanBuilder&, const CpuJob&, Range, float*);             // exact.cpp
void sequential_persistent(cpu::PlanBuilder&, const CpuJob&, Range, float*);  // exact.cpp
void tnt(cpu::PlanBuilder&, const CpuJob&, Range, float*);                    // exact.cpp
void chunkwise_gd(cpu::PlanBuilder&, const CpuJob&, Range, float*);           // chunkwise.cpp
void atlas_parallel(cpu::PlanBuilder&, const CpuJob&, Range, float*);         // chunkwise.cpp
void exact_chunk(cpu::PlanBuilder&, const CpuJob&, Range, float*);            // chunkwise.cpp
void associative_scan(cpu::PlanBuilder&, const CpuJob&, Range, float*);       // associative_scan.cpp
void lattice_gla(cpu::PlanBuilder&, const CpuJob&, Range, float*);            // lattice.cpp
}  // namespace forward

namespace room {
int64_t tnt(const CpuJob&, Range);
int64_t chunkwise_gd(const CpuJob&, Range);  // also atlas_parallel
int64_t exact_chunk(const CpuJob&, Range);
int64_t associative_scan(const CpuJob&, Range);
int64_t lattice_gla(const CpuJob&, Range);
}  // namespace room

// Lattice (lattice.cpp) and trellis (trellis.cpp), token by token for one sequence, which is the item; y goes
// to the job's y. The scratch is that of launches of this many tokens.
void walk_lattice(const CpuJob& job, Range tokens, const cpu::Item& item);
void walk_trellis(const CpuJob& job, Range tokens, const cpu::Item& item);
int64_t scratch_of_lattice(const CpuJob& job, int64_t tokens);
int64_t scratch_of_trellis(const CpuJob& job, int64_t tokens);
// In chunks: chunkwise_gd, and lattice_gla, which linearises.
void add_lattice_chunks(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, bool linearises,
                        float* room);
void add_trellis_chunks(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* room);
int64_t room_of_trellis(const CpuJob& job, Range tokens);

// How many of `tokens` tokens are loaded together, at most.
inline int64_t tokens_together(int64_t tokens) { return std::min<int64_t>(tokens, 64); }

// Calls block(tokens) for pieces of `tokens` that are loaded together; checks the stop token between them.
template <class Block>
void in_blocks(Range tokens, const std::stop_token& stop, Block&& block) {
    const int64_t step = tokens_together(tokens.count());
    for (int64_t first = tokens.first; first < tokens.last && !stop.stop_requested(); first += step)
        block(Range{first, std::min(first + step, tokens.last)});
}

}  // namespace sawtooth::memory

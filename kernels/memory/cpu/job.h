#pragma once

#include <stop_token>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/scratch.h"
#include "kernels/memory/tensors.h"

namespace sawtooth::memory {

using cpu::lanes;
using cpu::padded;
using cpu::strips_of;

// The effect of a token on a matrix: how much of it and of the momentum is kept, and the size of the step.
struct TokenGate {
    float decay = 1, keep = 0, step = 1;
};

// A chain whose state is stored in strips of 16 rows between launches (kernels/cpu/products.h): m.live and
// s.live are [batch, strips, columns, 16]; s.live is absent without momentum. Strips are independent along
// the whole sequence, so workers own strips. An item is sequence * strips() + strip.
struct StripChain : Chain {
    explicit StripChain(const Chain& chain)
        : Chain(chain),
          alphas_(alpha.as<float>()),
          etas_(eta.as<float>()),
          thetas_(theta.as<float>()),
          windows_(omega_windows.as<int32_t>()),
          share_(share()) {}

    int64_t strips() const { return strips_of(rows); }
    int64_t strip_size() const { return columns * lanes; }
    int64_t items() const { return batch * strips(); }
    Side sides() const;  // the grid of its items
    // The strip of an item, or of an item in a tile, in an array of states; null if the array is absent.
    float* strip_of(const Buffer& states, int64_t at) const {
        return states ? states.as<float>() + at * strip_size() : nullptr;
    }
    float* m_of(int64_t item) const { return strip_of(m.live, item); }
    float* s_of(int64_t item) const { return strip_of(s.live, item); }

    TokenGate gate(int64_t sequence, int64_t token) const;
    // The first token of the longest window that may end at `token`, and of the one that does.
    int64_t first_source(int64_t token) const { return std::max<int64_t>(token - (window - 1), 0); }
    int64_t first_of_window(int64_t sequence, int64_t token) const {
        return windows_ ? std::max<int64_t>(token - (windows_[sequence * length + token] - 1), 0)
                        : first_source(token);
    }

    // Loads the state before the first token into a strip of M and one of S; s may be null.
    void load_initial(int64_t item, float* m, float* s) const;
    void load_initial(int64_t item) const { load_initial(item, m_of(item), s_of(item)); }
    // Stores `strip`, the M of `item`, as a boundary if a chunk starts at `token` and boundaries are stored.
    void put_boundary(int64_t item, int64_t token, const float* strip) const;
    // Stores the final state and the last boundary, after the last token.
    void put_final(int64_t item, const float* m, const float* s) const;
    void put_final(int64_t item) const { put_final(item, m_of(item), s_of(item)); }

  private:
    // Stores a strip in state `at` of an array, if the array is there.
    void put(int64_t item, const float* strip, const Buffer& to, int64_t at) const;

    const float *alphas_, *etas_, *thetas_;  // null if absent
    const int32_t* windows_;                 // null if absent
    float share_;
};

// error_of() and take_step() process one token on a strip of 16 rows of a memory, [columns, 16], for any
// `columns`.

// e = M k - v.
void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e);

// One step of a strip, then y = M q. With momentum: S = keep S + u k^T, M = decay M + S.
// Without momentum (`s` is null): M = decay M + u k^T.
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

// The coefficients w and h of a tile's sources, padded(count) numbers each. advance() takes one token:
// h = keep h, then h[first … count - 1] += step, then w = decay w + h.
struct Coefficients {
    float *w = nullptr, *h = nullptr;
};
void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count);

// What the strategies on the CPU work on: the arrays, and the states between launches. The states of lattice
// are [batch, slot_count, padded(d)]; w_omega is W^T in strips, [strips, 2 padded(d), 16], keys first. Rows
// of inputs are widened to f32 and padded with zeros: a row of n numbers takes padded(n).
struct CpuJob : Tensors {
    CpuJob(cpu::PlanBuilder& builder, const Tensors& given);

    // load copies rows of k, v, q or x unchanged; load_keys normalises them if the job does.
    void load(const Buffer& from, int64_t sequence, Range tokens, float* to) const;
    void load_keys(const Buffer& from, int64_t sequence, Range tokens, float* to) const;
    // Load the target that a matrix rule subtracts from M k: v, or -W silu([k; v]) with w_omega. load_values
    // loads whole rows, load_strip_values the 16 numbers of one strip per token. `room` holds
    // room_of_values() numbers per token.
    void load_values(int64_t sequence, Range tokens, float* room, float* to) const;
    void load_strip_values(int64_t sequence, int64_t strip, Range tokens, float* room, float* to) const;
    int64_t room_of_values() const { return w_omega ? 4 * padded(d) : 0; }
    // put stores y of one token from `column` on, as far as columns exist; put_rows stores whole rows.
    void put(int64_t sequence, int64_t token, int64_t column, const float* from, int64_t count) const;
    void put_rows(int64_t sequence, Range tokens, const float* rows) const;

    StripChain memory;  // M of matrix rules; S_K of trellis
    StripChain values;  // S_V of trellis
};

// Takes the arrays of a range. Without a builder it only counts their numbers.
class Room {
  public:
    explicit Room(cpu::PlanBuilder* builder = nullptr) : builder_(builder) {}
    Buffer take(std::string name, Shape shape) {
        numbers_ = saturating_add(numbers_, count_of(shape));
        return builder_ ? builder_->take(std::move(name), std::move(shape)) : Buffer();
    }
    int64_t numbers() const { return numbers_; }

  private:
    cpu::PlanBuilder* builder_;
    int64_t numbers_ = 0;
};

// The column on_cpu of the strategy table. Strategies of a chain use chain.h; lattice and trellis have a file
// each.
namespace on_cpu {
AddRange sequential(const CpuJob&, Range longest, Room&);             // exact.cpp
AddRange sequential_persistent(const CpuJob&, Range longest, Room&);  // exact.cpp
AddRange tnt(const CpuJob&, Range longest, Room&);                    // exact.cpp
AddRange chunkwise_gd(const CpuJob&, Range longest, Room&);           // chunkwise.cpp
AddRange atlas_parallel(const CpuJob&, Range longest, Room&);         // chunkwise.cpp
AddRange exact_chunk(const CpuJob&, Range longest, Room&);            // chunkwise.cpp
AddRange associative_scan(const CpuJob&, Range longest, Room&);       // associative_scan.cpp
AddRange lattice_gla(const CpuJob&, Range longest, Room&);            // lattice.cpp
}  // namespace on_cpu

// Walk lattice (lattice.cpp) or trellis (trellis.cpp) token by token over one sequence, the item; y goes to
// the job's y. The scratch is that of a launch of `tokens` tokens, in bytes.
void walk_lattice(const CpuJob& job, Range tokens, const cpu::Item& item);
void walk_trellis(const CpuJob& job, Range tokens, const cpu::Item& item);
int64_t scratch_of_lattice(const CpuJob& job, int64_t tokens);
int64_t scratch_of_trellis(const CpuJob& job, int64_t tokens);
// The same rules in chunks: chunkwise_gd, or lattice_gla, which linearises or rescales.
AddRange lattice_chunks(const CpuJob& job, Range longest, bool linearises, Room& room);
AddRange trellis_chunks(const CpuJob& job, Range longest, bool rescales, Room& room);

// A local memory of tnt for these rules. It walks `tokens` from the state of its sequence before the shard,
// and the last one of the shard leaves its state for the next shard.
struct LocalSlots {
    int64_t sequence;
    Range shard, tokens;
    struct States {
        float *m, *s;  // of all sequences, as m.live and s.live
    } before, after;

    bool is_first() const { return tokens.first == shard.first; }
    bool is_last() const { return tokens.last == shard.last; }
};
void run_local_lattice(const CpuJob& job, const LocalSlots& local, const cpu::Item& item);
void run_local_trellis(const CpuJob& job, const LocalSlots& local, const cpu::Item& item);
int64_t scratch_of_local_lattice(const CpuJob& job);
int64_t scratch_of_local_trellis(const CpuJob& job);

// The size of the blocks in which `tokens` tokens are loaded, at most 64.
inline int64_t tokens_together(int64_t tokens) { return std::min<int64_t>(tokens, 64); }

// Calls act(block) for the blocks of `tokens`; checks the stop token between them.
template <class Act>
void in_blocks(Range tokens, const std::stop_token& stop, Act&& act) {
    const int64_t step = tokens_together(tokens.count());
    for (int64_t first = tokens.first; first < tokens.last && !stop.stop_requested(); first += step)
        act(Range{first, std::min(first + step, tokens.last)});
}

}  // namespace sawtooth::memory

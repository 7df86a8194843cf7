#pragma once

#include <stop_token>

#include "kernels/memory/job.h"

namespace sawtooth::memory {

// The exact rules, one token after another. All look at the stop token every so many tokens.

// One strip (item: batch * strips + strip) of a matrix rule over `tokens`, m and s in place; `sum` [16] gets
// the sum of y where it is not null.
void walk_strip(const Job& job, int64_t item, float* m, float* s, Range tokens, const std::stop_token& stop,
                float* sum = nullptr);
// All slots of lattice, and both matrices of trellis, of one sequence; y goes to the job's sink.
void walk_slots(const Job& job, int64_t batch, Range tokens, const std::stop_token& stop);
void walk_trellis(const Job& job, int64_t batch, Range tokens, const std::stop_token& stop);

// One slot (item: batch * slot_count + i): that before the first token, a boundary where a chunk starts, and
// the final one with the last boundary.
void load_initial_slot(const Job& job, int64_t item);
void put_slot_boundary(const Job& job, int64_t item, int64_t token, const float* slot);
void put_final_slot(const Job& job, int64_t item);
// y = sum of softmax(s_i . q) s_i over unit slots [slot_count, padded(d)].
void read_slots(const Job& job, const float* slots, const float* q, float* y);
// sqrt(c) silu(w) / norm(silu(w)), w of c numbers in a row of padded(c).
void norm_silu(float* row, int64_t count);

}  // namespace sawtooth::memory

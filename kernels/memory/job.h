#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/plan.h"
#include "kernels/cpu/half.h"
#include "kernels/memory/products.h"

namespace sawtooth::memory {

enum class UpdateRule { titans, delta, hebbian, atlas, atlas_omega, lattice, trellis };

// Tokens first … last - 1.
struct Range {
    int64_t first = 0, last = 0;
    int64_t count() const { return last - first; }
};

// An input [batch, length, width], stored in the parameter `dtype`.
struct Rows {
    cpu::Precision precision = cpu::Precision::f32;
    const void* values = nullptr;
    int64_t length = 0, width = 0;

    // A row of `stride` f32 numbers a token, zeros behind the width.
    void load(int64_t batch, Range tokens, float* to, int64_t stride) const;
    // The 16 columns of a strip alone, a row of 16 a token.
    void load_strip(int64_t batch, int64_t strip, Range tokens, float* to) const;
};

// An output [batch, length, width], or a level of one; stored in the parameter `dtype`.
struct Sink {
    cpu::Precision precision = cpu::Precision::f32;
    void* values = nullptr;
    int64_t batch_stride = 0, width = 0;  // in elements

    // Columns column … of one token, as far as there are any.
    void put(int64_t batch, int64_t token, int64_t column, const float* from, int64_t count) const;
};

// What a token does to a state: how much of it stays, how much of the momentum, and how large its step is.
struct Gate {
    float decay = 1, keep = 0, step = 1;
};

struct Gates {
    const float* alpha = nullptr;  // [batch, length]; null: 0
    const float* eta = nullptr;    // null: 0
    const float* theta = nullptr;  // null: 1
    int64_t length = 0;
    float lambda = 0;  // decay in proportion to the step
    float share = 1;   // of a step that each token of the window gets

    Gate at(int64_t batch, int64_t token) const {
        const int64_t i = batch * length + token;
        const float step = theta ? theta[i] : 1;
        return {1 - (alpha ? alpha[i] : 0) - lambda * step, eta ? eta[i] : 0, step * share};
    }
};

// A memory matrix and what tokens make of it:
//   e_i = M k_i - v_i, or -v_i where the rule does not read the memory
//   S_t = keep_t S - step_t sum of e_i k_i^T over the window that ends at t,  M_t = decay_t M + S_t
// Strips of 16 rows are independent of each other all along the sequence: workers own strips.
struct Chain {
    std::string name = "m";
    int64_t batch = 0, length = 0, rows = 0, columns = 0;
    int64_t window = 1;
    bool reads_memory = true, has_momentum = false;
    Gates gates;
    const float *m0 = nullptr, *s0 = nullptr;      // [batch, rows, columns]; null: zeros
    float *m = nullptr, *s = nullptr;              // the state between launches, in strips (products.h)
    float *final_m = nullptr, *final_s = nullptr;  // outputs [batch, rows, columns]; null: not stored
    float* boundaries = nullptr;  // output [batch, chunks + 1, rows, columns]; null: not stored
    int64_t boundary_count = 0, boundary_chunk = 1;

    int64_t strips() const { return strips_of(rows); }
    int64_t strip_size() const { return columns * lanes; }
    int64_t items() const { return batch * strips(); }
    float* strip_of(float* states, int64_t item) const { return states + item * strip_size(); }
    int64_t first_source(int64_t token) const { return std::max<int64_t>(token - (window - 1), 0); }

    // The state before the first token, of one item (batch * strips() + strip), into strips; s may be null.
    void load_initial(int64_t item, float* m, float* s) const;
    void load_initial(int64_t item) const;  // into those between launches
    // Keeps M where a chunk starts at `token` and boundaries are stored; the strip is of this item.
    void put_boundary(int64_t item, int64_t token, const float* strip) const;
    // After the last token: final states and the last boundary.
    void put_final(int64_t item) const;
};

// Everything that a strategy works on.
struct Job {
    UpdateRule rule = UpdateRule::delta;
    int64_t batch = 0, length = 0, width = 0;  // width: d
    int64_t slot_count = 0, compress = 0;
    bool normalises = true;
    bool reads_boundary = false;  // readout = boundary
    int64_t local_tokens = 1;     // C_L
    Rows k, v, q, x;
    const float* w_omega = nullptr;  // strips of W^T, [2 padded(d), 16] each
    const float* slots = nullptr;    // [batch, slot_count, d]
    Sink y;

    Chain memory;                 // of the matrix rules; S_K of trellis
    Chain values;                 // S_V of trellis
    float* live_slots = nullptr;  // of lattice between launches, [batch, slot_count, padded(d)]
    float* final_slots = nullptr;
    float* slot_boundaries = nullptr;

    bool is_matrix() const { return rule != UpdateRule::lattice && rule != UpdateRule::trellis; }

    // Keys and queries as the rule reads them: normalised where the job does; rows of padded(d).
    void load_keys(const Rows& from, int64_t batch_item, Range tokens, float* to) const;
    // What is taken from M k of a matrix rule: v; of atlas -w = -W silu([k; v]). Rows of padded(d), or the 16
    // numbers of one strip a token.
    void load_values(int64_t batch_item, Range tokens, float* to) const;
    void load_strip_values(int64_t batch_item, int64_t strip, Range tokens, float* to) const;
};

// Outputs of a plan, and how they come out of it.
class Outputs {
  public:
    explicit Outputs(Plan& plan) : plan_(plan) {}
    void* take(std::string name, Dtype dtype, Shape shape, cpu::Precision precision);
    void finish();  // gives them to the plan

  private:
    struct Output {
        std::string name;
        Dtype dtype = Dtype::f32;
        Shape shape;
        cpu::Precision precision;
        std::shared_ptr<std::byte[]> memory;
        Array array() const;
    };
    Plan& plan_;
    std::vector<Output> outputs_;
};

// The array as the launches read it: f32 in place, else narrowed.
Rows rows_of(Plan& plan, const Array& array, cpu::Precision precision);

}  // namespace sawtooth::memory

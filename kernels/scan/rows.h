#pragma once

#include <cstdint>

namespace sawtooth::scan {

// The associative operator. A state has one plane of f32, or two: linear (a, b) and compensated_sum (s, e).
enum class Operator { sum, product, maximum, minimum, linear, compensated_sum };

constexpr int planes_of(Operator op) {
    return op == Operator::linear || op == Operator::compensated_sum ? 2 : 1;
}
// Planes of the input: linear reads a and x, the others x alone (an x of compensated_sum is the state (x,
// 0)).
constexpr int input_planes_of(Operator op) { return op == Operator::linear ? 2 : 1; }

// Rows of neighbouring columns. Row r of plane p starts at plane[p] + r * stride; a negative stride walks
// backwards.
struct Rows {
    const float* plane[2] = {};
    int64_t stride = 0;
};
struct MutableRows {
    float* plane[2] = {};
    int64_t stride = 0;
};
// States side by side: one a column, or many rows of them.
struct States {
    float* plane[2] = {};

    States from(int64_t offset) const {
        return {{plane[0] ? plane[0] + offset : nullptr, plane[1] ? plane[1] + offset : nullptr}};
    }
};

// The rows of a tile, combined one after another, every column for itself (vectors across columns). These
// functions count nothing and check nothing: callers do.
struct Walk {
    Operator op = Operator::sum;
    Rows in = {};
    int64_t rows = 0, columns = 0;
    States carry = {}, total = {};  // read and written
    float* out = nullptr;           // finished values: y = s + e for compensated_sum, b for linear
    int64_t out_stride = 0;
    MutableRows states_out = {};  // whole states, not finished
    bool stream = false;          // store `out` past the caches where it is aligned
};

void fold_rows(const Walk& walk);           // total = total o row 0 o row 1 …
void scan_rows(const Walk& walk);           // carry = carry o row r; out row r = carry, finished
void scan_and_fold_rows(const Walk& walk);  // both in one pass
void scan_states(const Walk& walk);         // carry = carry o row r; states_out row r = carry

// out[i] = left[i] o right[i] on `count` states; out may be left or right.
void combine(Operator op, States left, States right, States out, int64_t count);
// Groups of `columns` states one after another: before[g] = carry, then carry = carry o totals[g].
void spread(Operator op, States totals, int64_t groups, int64_t columns, States carry, States before);
// out[i] = what y is of a state: s + e of compensated_sum, b of linear, else the state itself; out may be
// plane 0.
void finish(Operator op, States states, float* out, int64_t count);
void copy_states(Operator op, States from, States to, int64_t count);
void fill_identity(Operator op, States states, int64_t count);

// The state that changes nothing: 0, 1, -inf, +inf, (1, 0), (0, 0).
float identity(Operator op, int plane);

}  // namespace sawtooth::scan

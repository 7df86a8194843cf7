#pragma once

#include <cstdint>

namespace sawtooth::cpu {

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

// The rows of a tile, combined one after another, every column for itself. These functions count nothing and
// check nothing: callers do.
struct Walk {
    Operator op = Operator::sum;
    Rows in = {};
    int64_t rows = 0, columns = 0;
    States carry = {}, total = {};  // [columns], read and written
    float* out = nullptr;  // [rows, columns], finished values: y = s + e for compensated_sum, b for linear
    int64_t out_stride = 0;
    MutableRows states_out = {};  // [rows, columns], whole states, not finished
    bool stream = false;          // store rows past the caches where they are aligned
};

// Vectors lie across columns. A single column whose rows are neighbours in memory (stride 1 or -1, the same
// for input and output) is scanned inside vectors instead: blocks of four vectors, each block's states from
// the identity, then the carry before all of them. The order of combination depends on the number of rows and
// the width of the processor's vectors alone, and all three functions give the same total and the same carry.
void fold_rows(const Walk& walk);           // total = total o row 0 o row 1 …
void scan_rows(const Walk& walk);           // carry = carry o row r; out row r = carry, finished
void scan_and_fold_rows(const Walk& walk);  // both in one pass
void scan_states(const Walk& walk);         // carry = carry o row r; states_out row r = carry
// The same as scan_rows, but strictly one row after another, a single column too.
void chain_rows(const Walk& walk);

// out[i] = left[i] o right[i] on `count` states; out may be left or right.
void combine(Operator op, States left, States right, States out, int64_t count);
// out row r = before o states row r, finished, on [rows, columns] without gaps; out may be plane 0 of states.
void combine_rows(Operator op, States before, States states, float* out, int64_t rows, int64_t columns);
// Groups of `columns` states one after another: before[g] = carry, then carry = carry o totals[g]; before may
// be totals.
void spread(Operator op, States totals, int64_t groups, int64_t columns, States carry, States before);
// out[i] = what y is of a state: s + e of compensated_sum, b of linear, else the state itself; out may be
// plane 0.
void finish(Operator op, States states, float* out, int64_t count);
void copy_states(Operator op, States from, States to, int64_t count);
void fill_identity(Operator op, States states, int64_t count);

// The state that changes nothing: 0, 1, -inf, +inf, (1, 0), (0, 0).
float identity(Operator op, int plane);

}  // namespace sawtooth::cpu

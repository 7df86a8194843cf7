#pragma once

#include <cstdint>

namespace sawtooth::cpu {

// The associative operators. A state has one plane of f32, or two: (a, b) for linear, (s, e) for
// compensated_sum.
enum class Operator { sum, product, maximum, minimum, linear, compensated_sum };

constexpr int planes_of(Operator op) {
    return op == Operator::linear || op == Operator::compensated_sum ? 2 : 1;
}
// The number of planes of the input: linear reads a and x, the others only x (for compensated_sum, x is the
// state (x, 0)).
constexpr int input_planes_of(Operator op) { return op == Operator::linear ? 2 : 1; }

// States side by side, one per column, or many rows of them.
struct States {
    float* plane[2] = {};

    States from(int64_t offset) const {
        return {{plane[0] ? plane[0] + offset : nullptr, plane[1] ? plane[1] + offset : nullptr}};
    }
};

// out[i] = left[i] o right[i] on `count` states; out may be left or right.
void combine(Operator op, States left, States right, States out, int64_t count);
// out row r = before o states row r, finished, on contiguous [rows, columns]; out may be plane 0 of states.
void combine_rows(Operator op, States before, States states, float* out, int64_t rows, int64_t columns);
// Scans groups of `columns` states that are stored one after another. For each group g
//   before[g] = carry, then carry = carry o totals[g].
// `before` may be `totals`.
void spread(Operator op, States totals, int64_t groups, int64_t columns, States carry, States before);
// out[i] = y of a state: s + e for compensated_sum, b for linear, otherwise the state; out may be plane 0.
void finish(Operator op, States states, float* out, int64_t count);
void copy_states(Operator op, States from, States to, int64_t count);
void fill_identity(Operator op, States states, int64_t count);

// The identity of the operator: 0, 1, -inf, +inf, (1, 0), (0, 0).
float identity(Operator op, int plane);

}  // namespace sawtooth::cpu

#pragma once

#include <cstdint>

namespace sawtooth::cpu {

// The associative operators. A state has one plane of f32, or two: (a, b) for linear, complex_linear and
// segmented_sum, (s, e) for compensated_sum, (m, s) for log_sum_exp. The b of segmented_sum adds up from the
// last element whose a is 0; log_sum_exp is m + log(s), where m is the largest input. In complex_linear two
// neighbouring columns are a real and an imaginary part.
enum class Operator {
    sum,
    product,
    maximum,
    minimum,
    linear,
    compensated_sum,
    complex_linear,
    log_sum_exp,
    segmented_sum
};

// The number of planes of the input: a and x, or only x.
constexpr int input_planes_of(Operator op) {
    return op == Operator::linear || op == Operator::complex_linear || op == Operator::segmented_sum ? 2 : 1;
}
constexpr int planes_of(Operator op) {
    return op == Operator::compensated_sum || op == Operator::log_sum_exp ? 2 : input_planes_of(op);
}
// The second plane of a state that is made of x alone: (x, 0), or (x, 1) for log_sum_exp.
constexpr float second_of_input(Operator op) { return op == Operator::log_sum_exp ? 1.0f : 0.0f; }
// Whether two neighbouring columns are one complex number.
constexpr bool pairs_columns(Operator op) { return op == Operator::complex_linear; }

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
// out[i] = y of a state: s + e, b, m + log(s), or the state if it is one float; out may be plane 0.
void finish(Operator op, States states, float* out, int64_t count);
void copy_states(Operator op, States from, States to, int64_t count);
void fill_identity(Operator op, States states, int64_t count);
// The same for one plane. The identities are 0, 1, -inf, +inf, (1, 0), (0, 0), (1 + 0i, 0), (-inf, 0), (1,
// 0).
void fill_identity(Operator op, int plane, float* values, int64_t count);

}  // namespace sawtooth::cpu

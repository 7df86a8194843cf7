#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/core/row_sum.h"
#include "kernels/core/wide.h"

// The definitions of the family, for any number type. They share no code with the kernels.
namespace sawtooth::memory::formulas {

template <class Real>
using Vector = std::vector<Real>;

template <class Real>
struct Matrix {
    size_t rows = 0, columns = 0;
    Vector<Real> values;

    Matrix() = default;
    Matrix(size_t rows, size_t columns) : rows(rows), columns(columns), values(rows * columns) {}
    Real* row(size_t i) { return values.data() + i * columns; }
    const Real* row(size_t i) const { return values.data() + i * columns; }
};

// a b + c, and a b + c d. With noise, each of them gets one random rounding for the whole expression, because
// they are most of the work.
inline double multiply_add(double a, double b, double c) { return a * b + c; }
inline double multiply_add(double a, double b, double c, double d) { return a * b + c * d; }
inline Noisy multiply_add(Noisy a, Noisy b, Noisy c) {
    SumOfProducts<Noisy> sum(c);
    sum.add(a, b);
    return sum.total();
}
inline Noisy multiply_add(Noisy a, Noisy b, Noisy c, Noisy d) {
    SumOfProducts<Noisy> sum;
    sum.add(c, d);
    sum.add(a, b);
    return sum.total();
}

// y = m x.
template <class Real>
SAWTOOTH_WIDE void multiply(const Matrix<Real>& m, const Real* x, Real* y) {
    for (size_t i = 0; i < m.rows; ++i) y[i] = dot<Real>(m.row(i), x, m.columns);
}

// y = y + the sum of factor s times row s of m, of the first `count` rows.
template <class Real>
SAWTOOTH_WIDE void add_rows(const Real* factors, const Matrix<Real>& m, size_t count, Real* y, size_t width) {
    RowSum<Real> sums(width);
    sums.start(y);
    for (size_t s = 0; s < count; ++s) sums.add(factors[s], m.row(s));
    sums.put_totals(y);
}

// x = factor x.
template <class Real>
void scale(Real* x, Real factor, size_t count) {
    for (size_t i = 0; i < count; ++i) x[i] *= factor;
}

// x = x + b y.
template <class Real>
void add(Real* x, Real b, const Real* y, size_t count) {
    for (size_t i = 0; i < count; ++i) x[i] = multiply_add(b, y[i], x[i]);
}

// x = a x + b y.
template <class Real>
void combine(Real* x, Real a, Real b, const Real* y, size_t count) {
    for (size_t i = 0; i < count; ++i) x[i] = multiply_add(a, x[i], b, y[i]);
}

// x = x / max(norm(x), 1e-12). Squares are summed in double, because they may leave the range of f32; kernels
// provide for that, too.
template <class Real>
void normalise(Real* x, size_t count) {
    double square = 0;
    for (size_t i = 0; i < count; ++i) square += value_of(x[i]) * value_of(x[i]);
    const Real norm = Real(1) * Real(std::max(std::sqrt(square), 1e-12));
    scale(x, Real(1) / norm, count);
}

// Gives every row a norm of sqrt(columns), but rows of zeros.
template <class Real>
void rescale_rows(Matrix<Real>& m) {
    for (size_t i = 0; i < m.rows; ++i) {
        normalise(m.row(i), m.columns);
        scale(m.row(i), Real(std::sqrt(static_cast<double>(m.columns))), m.columns);
    }
}

template <class Real>
Real sigmoid(Real x) {
    using std::exp;
    return Real(1) / (Real(1) + exp(-x));
}

template <class Real>
void silu(Real* x, size_t count) {
    for (size_t i = 0; i < count; ++i) x[i] *= sigmoid(x[i]);
}

// x = sqrt(count) silu(x) / max(norm(silu(x)), 1e-12).
template <class Real>
void nsilu(Real* x, size_t count) {
    silu(x, count);
    normalise(x, count);
    scale(x, Real(std::sqrt(static_cast<double>(count))), count);
}

}  // namespace sawtooth::memory::formulas

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/core/noisy.h"

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

// start + x . y. In double it uses four sums, which a processor adds at the same time; with noise it uses
// one, as the matrix products of kernels do.
inline double add_products(double start, const double* x, const double* y, size_t count) {
    double sums[4] = {start, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t lane = 0; lane < 4; ++lane) sums[lane] += x[i + lane] * y[i + lane];
    for (; i < count; ++i) sums[0] += x[i] * y[i];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}
inline Noisy add_products(Noisy start, const Noisy* x, const Noisy* y, size_t count) {
    SumOfProducts<Noisy> sum(start);
    for (size_t i = 0; i < count; ++i) sum.add(x[i], y[i]);
    return sum.total();
}

template <class Real>
Real dot(const Real* x, const Real* y, size_t count) {
    return add_products(Real(0), x, y, count);
}

// y = m x.
template <class Real>
void multiply(const Matrix<Real>& m, const Real* x, Real* y) {
    for (size_t i = 0; i < m.rows; ++i) y[i] = dot(m.row(i), x, m.columns);
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

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/core/noisy.h"
#include "kernels/core/range.h"

namespace sawtooth::ar_ssm {

// Matrices of any number type, for the reference alone.

// A matrix by rows. In a matrix of a sequence, a row is a position.
template <class Real>
struct Matrix {
    int64_t rows = 0, columns = 0;
    std::vector<Real> values;

    Matrix() = default;
    Matrix(int64_t row_count, int64_t column_count)
        : rows(row_count), columns(column_count), values(static_cast<size_t>(row_count * column_count)) {}
    Real* row(int64_t r) { return values.data() + r * columns; }
    const Real* row(int64_t r) const { return values.data() + r * columns; }
};

template <class Real>
Matrix<Real> transposed(const Matrix<Real>& from) {
    Matrix<Real> to(from.columns, from.rows);
    for (int64_t r = 0; r < from.rows; ++r)
        for (int64_t c = 0; c < from.columns; ++c) to.row(c)[r] = from.row(r)[c];
    return to;
}

// The left factor of a product, possibly a transposed matrix.
template <class Real>
struct Left {
    const Real* values;
    int64_t row_step, column_step;
};

// to[j] += sum over k of left[k] right[k, j], for as many columns j as registers hold. Without the pragma,
// GCC keeps the sums in memory, at half the speed.
template <int width, class Real>
void add_columns(Real* to, const Real* left, int64_t step, const Real* right, int64_t columns,
                 int64_t terms) {
    SumOfProducts<Real> sums[width];
    for (int j = 0; j < width; ++j) sums[j] = SumOfProducts<Real>(to[j]);
    for (int64_t k = 0; k < terms; ++k)
#pragma GCC unroll 16
        for (int j = 0; j < width; ++j) sums[j].add(left[k * step], right[k * columns + j]);
    for (int j = 0; j < width; ++j) to[j] = sums[j].total();
}

// to [rows, columns] += left [rows, terms] right [terms, columns]. It takes so few terms at a time that the
// columns of `right` stay in the cache.
template <class Real>
void add_product(Real* to, int64_t rows, int64_t columns, const Left<Real>& left, const Real* right,
                 int64_t terms) {
    constexpr int64_t together = 64;
    constexpr int width = 16;
    for (int64_t first = 0; first < terms; first += together) {
        const int64_t count = std::min(together, terms - first);
        const auto for_rows = [&](auto add, int64_t j) {
            for (int64_t i = 0; i < rows; ++i)
                add(to + i * columns + j, left.values + i * left.row_step + first * left.column_step,
                    left.column_step, right + first * columns + j, columns, count);
        };
        int64_t j = 0;
        for (; j + width <= columns; j += width) for_rows(add_columns<width, Real>, j);
        for (; j < columns; ++j) for_rows(add_columns<1, Real>, j);
    }
}

// to += left right at the positions `at`.
template <class Real>
void add_product(Matrix<Real>& to, Range at, const Matrix<Real>& left, const Matrix<Real>& right) {
    add_product<Real>(to.row(at.first), at.count(), to.columns, {left.row(at.first), left.columns, 1},
                      right.row(0), right.rows);
}

// to += left^T right, summed over the positions `at`.
template <class Real>
void add_outer_product(Matrix<Real>& to, Range at, const Matrix<Real>& left, const Matrix<Real>& right) {
    add_product<Real>(to.row(0), to.rows, to.columns, {left.row(at.first), 1, left.columns},
                      right.row(at.first), at.count());
}

// to += the sum of the rows of `from` at the positions `at`.
template <class Real>
void add_rows(Matrix<Real>& to, Range at, const Matrix<Real>& from) {
    for (int64_t l = at.first; l < at.last; ++l)
        for (int64_t i = 0; i < from.columns; ++i) to.values[static_cast<size_t>(i)] += from.row(l)[i];
}

template <class Real>
void set_rows(Matrix<Real>& to, Range at, const Matrix<Real>& row) {
    for (int64_t l = at.first; l < at.last; ++l) std::copy(row.values.begin(), row.values.end(), to.row(l));
}

// to = compute(left, right) at the positions `at`, element by element.
template <class Real, class Compute>
void set_elements(Matrix<Real>& to, Range at, const Matrix<Real>& left, const Matrix<Real>& right,
                  Compute compute) {
    for (int64_t l = at.first; l < at.last; ++l)
        for (int64_t i = 0; i < to.columns; ++i) to.row(l)[i] = compute(left.row(l)[i], right.row(l)[i]);
}
template <class Real, class Compute>
void set_elements(Matrix<Real>& to, Range at, Compute compute) {
    set_elements(to, at, to, to, [&](Real number, Real) { return compute(number); });
}

// to += the inclusive scan of `from`, along the sequence or from its end.
template <class Real>
void add_scan(Matrix<Real>& to, const Matrix<Real>& from, bool from_end) {
    std::vector<Real> sums(static_cast<size_t>(from.columns));
    for (int64_t step = 0; step < from.rows; ++step) {
        const int64_t l = from_end ? from.rows - 1 - step : step;
        for (int64_t i = 0; i < from.columns; ++i) {
            Real& sum = sums[static_cast<size_t>(i)];
            sum += from.row(l)[i];
            to.row(l)[i] += sum;
        }
    }
}

}  // namespace sawtooth::ar_ssm

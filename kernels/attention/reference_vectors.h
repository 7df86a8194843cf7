#pragma once

// Vectors of the reference: their products, sums and rotations. Loops run over numbers in memory order, so
// that the compiler can use vector instructions.

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/core/integers.h"
#include "kernels/core/noisy.h"

namespace sawtooth::attention {

// The numbers that are computed together. Rows are padded with zeros to a multiple of twice as many.
constexpr int64_t width = 4;
using Lanes = double __attribute__((vector_size(width * sizeof(double))));

inline void load(Lanes& lanes, const double* from) { std::memcpy(&lanes, from, sizeof lanes); }
inline void store(const Lanes& lanes, double* to) { std::memcpy(to, &lanes, sizeof lanes); }
inline double sum_of(const Lanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

constexpr int64_t padded_row(int64_t d) { return round_up(d, 2 * width); }

// The vectors of one head, [count, d] with padded rows.
struct HeadVectors {
    int64_t stride = 0;
    std::vector<double> values;

    HeadVectors() = default;
    HeadVectors(int64_t count, int64_t d)
        : stride(padded_row(d)), values(static_cast<size_t>(count * stride)) {}
    double* row(int64_t index) { return values.data() + index * stride; }
    const double* row(int64_t index) const { return values.data() + index * stride; }
};

template <class Real>
Real dot(const double* left, const double* right, int64_t d) {
    Lanes even = {}, odd = {};  // two chains of additions, as each addition takes several cycles
    const auto add = [&](Lanes& sums, int64_t m) {
        Lanes factors, others;
        load(factors, left + m), load(others, right + m);
        sums += factors * others;
    };
    for (int64_t m = 0; m < d; m += 2 * width) add(even, m), add(odd, m + width);
    return sum_of(even + odd);
}
// Adds one product after another, as most kernels do: this order has larger roundings than pairwise sums.
template <>
inline Noisy dot(const double* left, const double* right, int64_t d) {
    Lanes squares = {}, factors, others;
    double sum = 0, squares_of_sums = 0;
    for (int64_t m = 0; m < d; m += width) {
        load(factors, left + m), load(others, right + m);
        const Lanes products = factors * others;
        squares += products * products;
        sum += sum_of(products);
        squares_of_sums += static_cast<double>(std::min(width, d - m)) * sum * sum;
    }
    return SumOfProducts<Noisy>(sum, sum_of(squares) + squares_of_sums).total();
}

// Sums rows of D numbers, each times a factor.
template <class Real>
class RowSum {
  public:
    explicit RowSum(int64_t d)
        : d_(static_cast<size_t>(d)),
          sums_(static_cast<size_t>(padded_row(d))),
          squares_(is_noisy ? sums_.size() : 0) {}

    void add(Real factor, const double* row) {
        Lanes products, sums, squares;
        for (size_t m = 0; m < sums_.size(); m += width) {
            load(products, row + m), load(sums, &sums_[m]);
            products *= value_of(factor);
            sums += products;
            store(sums, &sums_[m]);
            if constexpr (is_noisy) {
                load(squares, &squares_[m]);
                squares += products * products + sums * sums;
                store(squares, &squares_[m]);
            }
        }
    }
    std::vector<Real> totals() const {
        std::vector<Real> totals(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(d_));
        if constexpr (is_noisy)
            for (size_t m = 0; m < d_; ++m) totals[m] = SumOfProducts<Noisy>(sums_[m], squares_[m]).total();
        return totals;
    }

  private:
    static constexpr bool is_noisy = std::is_same_v<Real, Noisy>;
    size_t d_;
    std::vector<double> sums_, squares_;  // `squares_`: of the numbers that were rounded
};

// R(p): turns each pair (x_m, x_(m + D/2)) by p base^(-2m/D).
class Rotation {
  public:
    Rotation(int64_t position, int64_t d, double base) {
        for (int64_t m = 0; m < d / 2; ++m) {
            const double turn = static_cast<double>(position) *
                                std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(d));
            cosines_.push_back(std::cos(turn));
            sines_.push_back(std::sin(turn));
        }
    }
    // to += R(p) from
    template <class From, class Real>
    void add(const From* from, Real* to) const {
        add_turned(from, to, 1);
    }
    // to += R(p)^-1 from
    template <class Real>
    void add_inverse(const Real* from, Real* to) const {
        add_turned(from, to, -1);
    }

  private:
    template <class From, class Real>
    void add_turned(const From* from, Real* to, double sense) const {
        for (size_t m = 0, half = sines_.size(); m < half; ++m) {
            const Real x = from[m], y = from[m + half], c = cosines_[m], s = sense * sines_[m];
            to[m] += x * c - y * s;
            to[m + half] += y * c + x * s;
        }
    }

    std::vector<double> cosines_, sines_;
};

}  // namespace sawtooth::attention

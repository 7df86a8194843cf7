#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/core/noisy.h"

namespace sawtooth {

// Sums of products of references, of double or Noisy numbers. They take four numbers at a time. They are
// inlined, so that a SAWTOOTH_WIDE function around them compiles them for wide vectors, too.
using Lanes = double __attribute__((vector_size(32)));
constexpr size_t lane_count = sizeof(Lanes) / sizeof(double);

// Number is double or Noisy, which is a double in memory.
template <class Number>
[[gnu::always_inline]] inline void load_lanes(Lanes& lanes, const Number* from) {
    static_assert(sizeof(Number) == sizeof(double) && std::is_trivially_copyable_v<Number>);
    std::memcpy(&lanes, static_cast<const void*>(from), sizeof lanes);
}
[[gnu::always_inline]] inline void store_lanes(const Lanes& lanes, double* to) {
    std::memcpy(to, &lanes, sizeof lanes);
}
[[gnu::always_inline]] inline double sum_of(const Lanes& lanes) {
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Returns left . right. With double it has eight sums, as each addition takes several cycles. With
// Noisy it has one, as most kernels do: this order has larger roundings than pairwise sums.
template <class Real, class Number>
[[gnu::always_inline]] inline Real dot(const Number* left, const Number* right, size_t count) {
    size_t i = 0;
    Lanes factors, products;
    const auto multiply = [&]() __attribute__((always_inline)) {
        load_lanes(factors, left + i), load_lanes(products, right + i);
        products *= factors;
        i += lane_count;
    };
    if constexpr (std::is_same_v<Real, Noisy>) {
        Lanes squares = {};
        double sum = 0, squares_of_sums = 0;
        while (i + lane_count <= count) {
            multiply();
            squares += products * products;
            sum += sum_of(products);
            squares_of_sums += lane_count * sum * sum;
        }
        for (; i < count; ++i) {
            const double product = value_of(left[i]) * value_of(right[i]);
            sum += product;
            squares_of_sums += product * product + sum * sum;
        }
        return SumOfProducts<Noisy>(sum, sum_of(squares) + squares_of_sums).total();
    } else {
        Lanes even = {}, odd = {};
        while (i + 2 * lane_count <= count) {
            multiply(), even += products;
            multiply(), odd += products;
        }
        for (; i < count; ++i) even[0] += left[i] * right[i];
        return sum_of(even + odd);
    }
}

// A row of sums: sum j = start j + the sum of factor * row[j] over all rows that were added.
template <class Real>
class RowSum {
  public:
    explicit RowSum(size_t count) : sums_(count), squares_(is_noisy ? count : 0) {}

    // Begins anew with the numbers of a row.
    void start(const Real* row) {
        for (size_t j = 0; j < sums_.size(); ++j) sums_[j] = value_of(row[j]);
        std::fill(squares_.begin(), squares_.end(), 0);
    }
    template <class Number>
    [[gnu::always_inline]] void add(Real factor, const Number* row) {
        const double times = value_of(factor);
        double *const sums = sums_.data(), *const squares = squares_.data();
        const size_t count = sums_.size();
        Lanes products, sum, square;
        size_t j = 0;
        for (; j + lane_count <= count; j += lane_count) {
            load_lanes(products, row + j), load_lanes(sum, sums + j);
            products *= times;
            sum += products;
            store_lanes(sum, sums + j);
            if constexpr (is_noisy) {
                load_lanes(square, squares + j);
                square += products * products + sum * sum;
                store_lanes(square, squares + j);
            }
        }
        for (; j < count; ++j) {
            const double product = times * value_of(row[j]);
            sums[j] += product;
            if constexpr (is_noisy) squares[j] += product * product + sums[j] * sums[j];
        }
    }
    void put_totals(Real* to) const {
        for (size_t j = 0; j < sums_.size(); ++j)
            if constexpr (is_noisy)
                to[j] = SumOfProducts<Noisy>(sums_[j], squares_[j]).total();
            else
                to[j] = sums_[j];
    }
    std::vector<Real> totals() const {
        std::vector<Real> totals(sums_.size());
        put_totals(totals.data());
        return totals;
    }

  private:
    static constexpr bool is_noisy = std::is_same_v<Real, Noisy>;
    std::vector<double> sums_, squares_;  // `squares_` of all numbers that were rounded
};

}  // namespace sawtooth

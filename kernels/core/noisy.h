#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/core/random.h"
#include "kernels/core/rounding.h"

namespace sawtooth {

// Monte Carlo arithmetic (Parker 1997): a double whose operations each err by a random share of the result,
// as those of a kernel in f32 do. A definition written for any number type gives the exact outputs with
// double; with Noisy it shows how far a right kernel may be from them, because every rounding travels the
// same way to the outputs. Leaving the range of f32 counts as well: infinite above it, maybe infinite near
// its end, uncertain below it.
//
// Half of the error depends on the operands alone. As in a kernel, where numbers repeat, so do their
// roundings, and a sum of many drifts. The other half does not, so that equal terms never cancel exactly.
// Every draw leans a little to one side as well: where inputs repeat, each block of a kernel rounds like the
// one before it, although their places in the definition differ.
class Noisy {
  public:
    Noisy() = default;
    Noisy(double value) : value_(value) {}
    template <class Integer>
    requires std::is_integral_v<Integer> Noisy(Integer value) : value_(static_cast<double>(value)) {}

    double value() const { return value_; }

    Noisy& operator+=(Noisy other) { return *this = sum(value_, other.value_); }
    Noisy& operator-=(Noisy other) { return *this = sum(value_, -other.value_); }
    Noisy& operator*=(Noisy other) { return *this = product(value_ * other.value_, other); }
    Noisy& operator/=(Noisy other) { return *this = product(value_ / other.value_, other); }
    friend Noisy operator+(Noisy left, Noisy right) { return left += right; }
    friend Noisy operator-(Noisy left, Noisy right) { return left -= right; }
    friend Noisy operator*(Noisy left, Noisy right) { return left *= right; }
    friend Noisy operator/(Noisy left, Noisy right) { return left /= right; }
    friend Noisy operator-(Noisy number) { return Noisy(-number.value_); }
    friend bool operator==(Noisy left, Noisy right) { return left.value_ == right.value_; }
    friend bool operator<(Noisy left, Noisy right) { return left.value_ < right.value_; }
    friend bool operator>(Noisy left, Noisy right) { return left.value_ > right.value_; }
    friend bool operator<=(Noisy left, Noisy right) { return left.value_ <= right.value_; }
    friend bool operator>=(Noisy left, Noisy right) { return left.value_ >= right.value_; }

    friend Noisy abs(Noisy number) { return Noisy(std::abs(number.value_)); }
    friend Noisy sqrt(Noisy number) { return rounded(std::sqrt(number.value_), leading(number.value_)); }
    friend Noisy exp(Noisy number) { return rounded(std::exp(number.value_), leading(number.value_)); }
    friend Noisy exp2(Noisy number) { return rounded(std::exp2(number.value_), leading(number.value_)); }
    friend Noisy log(Noisy number) { return rounded(std::log(number.value_), leading(number.value_)); }
    friend Noisy log2(Noisy number) { return rounded(std::log2(number.value_), leading(number.value_)); }
    friend bool isnan(Noisy number) { return std::isnan(number.value_); }
    friend bool isfinite(Noisy number) { return std::isfinite(number.value_); }
    friend Noisy narrow(Noisy number) {
        return kept(number.value_, state().rounding.narrow, leading(number.value_));
    }
    friend Noisy stored(Noisy number) {
        return kept(number.value_, state().rounding.stored, leading(number.value_));
    }
    friend Noisy narrow_sum(Noisy left, Noisy right) {
        const double sum = left.value_ + right.value_;
        return kept(sum, state().rounding.narrow, sum_operands(left.value_, right.value_, sum));
    }

  private:
    // Of what a kernel may form on the way, in another order: terms over their sum, products over the result.
    static constexpr double headroom = 0x1p40;
    friend class NoiseScope;
    template <class Real>
    friend class SumOfProducts;

    // The noise of the running thread.
    struct State {
        Rounding rounding;
        uint64_t random = 0;  // of the last operation
        uint64_t draw = 0;
        double lean = 0;                   // of every rounding, in units of it
        bool multiplies_infinity = false;  // since the begin of its NoiseScope

        double next() { return share(random += 0x9E3779B97F4A7C15u); }
        // The number with an error of about that share of it.
        double off(double number, double unit, uint64_t operands) {
            const double error = next() + share((operands ^ draw) * 0xD6E8FEB86659FD93u);
            return number * (1 + unit * (half * error + lean));
        }
        // -1 to 1: the steps of splitmix64, like Random.
        static double share(uint64_t mixed) {
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
            return static_cast<double>(static_cast<int64_t>(mixed)) * 0x1p-63;
        }
        static constexpr double half = 0.70710678;  // of the variance
    };
    static State& state() {
        thread_local State current;
        return current;
    }

    // Sign, exponent and 20 bits of the mantissa: what the noise of an operand leaves alone.
    static uint64_t leading(double number) { return std::bit_cast<uint64_t>(number) >> 32; }

    // How a sum rounds depends on its smaller term, as the larger is a multiple of what is rounded to.
    static uint64_t sum_operands(double left, double right, double result) {
        const double smaller = std::abs(left) < std::abs(right) ? left : right;
        return leading(smaller) << 32 | leading(result) >> 20;
    }
    static Noisy sum(double left, double right) {
        const double result = left + right;
        return right == 0 ? Noisy(left) : rounded(result, sum_operands(left, right, result));
    }
    Noisy product(double result, Noisy other) const {
        if (std::isinf(result)) state().multiplies_infinity = true;
        return rounded(result, leading(value_) << 32 | leading(other.value_));
    }
    static Noisy kept(double number, double unit, uint64_t operands) {
        if (number == 0 || unit == 0) return Noisy(number);
        const Rounding& rounding = state().rounding;
        const double share = std::max(unit, rounding.finest / std::abs(number));
        return within(state().off(number, share, operands), rounding.largest);
    }
    static Noisy rounded(double result, uint64_t operands) {
        return near_overflow(state().off(result, state().rounding.arithmetic, operands));
    }
    static Noisy near_overflow(double result) {
        const bool is_near = std::abs(result) > FLT_MAX / headroom;
        if (is_near && state().next() < 0.5) return Noisy(std::copysign(INFINITY, result));
        return within(result, FLT_MAX);
    }
    static Noisy within(double result, double largest) {
        const double size = std::abs(result);
        if (size > largest) return Noisy(std::copysign(INFINITY, result));
        if (size >= FLT_MIN || size == 0 || std::isnan(result)) return Noisy(result);
        if (size < 0x1p-150) return Noisy(0);
        const double share = state().next();  // it may lose its digits, or be flushed
        return Noisy(share < 0 ? 0 : result * (1 + 0.5 * share));
    }

    double value_ = 0;
};

// The value of a number of either type; a double is never narrowed.
inline double value_of(double number) { return number; }
inline double value_of(Noisy number) { return number.value(); }
inline double narrow(double number) { return number; }
inline double stored(double number) { return number; }

// A sum of products. Noisy draws all of their roundings at once, with the same variance, which takes a small
// part of the time; where a partial sum may have left the range of f32, the total is unknown.
template <class Real>
class SumOfProducts {
  public:
    SumOfProducts() = default;
    explicit SumOfProducts(double start) : sum_(start) {}

    void add(double left, double right) { sum_ += left * right; }
    double total() const { return sum_; }

  private:
    double sum_ = 0;
};

template <>
class SumOfProducts<Noisy> {
  public:
    SumOfProducts() = default;
    explicit SumOfProducts(Noisy start) : sum_(start.value()) {}
    // Of a sum, and the squares of all that was rounded on the way to it.
    SumOfProducts(double sum, double squares) : sum_(sum), squares_(squares) {}

    void add(Noisy left, Noisy right) {
        const double product = left.value() * right.value();
        sum_ += product;
        squares_ += product * product + sum_ * sum_;
    }
    Noisy total() const {
        if (!std::isfinite(sum_)) Noisy::state().multiplies_infinity = true;
        if (!std::isfinite(sum_)) return sum_;
        constexpr double most = FLT_MAX / Noisy::headroom;
        if (squares_ > most * most) return NAN;
        Noisy::State& state = Noisy::state();
        return Noisy::within(sum_ + state.rounding.arithmetic * std::sqrt(squares_) * state.next(), FLT_MAX);
    }

  private:
    double sum_ = 0, squares_ = 0;  // `squares_` of what was rounded
};
// A sum that is narrowed at once.
inline double narrow_sum(double left, double right) { return left + right; }

// Sets the noise of Noisy on this thread while it lives.
class NoiseScope {
  public:
    NoiseScope(const Rounding& rounding, uint64_t seed) : before_(Noisy::state()) {
        // Draws start far apart: neighbours would see the same numbers one operation later.
        Random random(seed, "noise");
        Noisy::state() = {rounding, random.next(), random.next(), random.below(2) == 0 ? lean : -lean};
    }
    ~NoiseScope() { Noisy::state() = before_; }
    // Whether a product was infinite: with its factors in another order it may be NaN.
    static bool multiplies_infinity() { return Noisy::state().multiplies_infinity; }
    NoiseScope(const NoiseScope&) = delete;
    NoiseScope& operator=(const NoiseScope&) = delete;

  private:
    static constexpr double lean = 0.01;
    Noisy::State before_;
};

}  // namespace sawtooth

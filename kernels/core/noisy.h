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

// A number for Monte Carlo arithmetic (Parker 1997): a double each of whose operations has a random error
// relative to the result, as the operations of a kernel in f32 have. A definition written for any number type
// gives the exact outputs with double. With Noisy it shows how far a right kernel may be from them, because
// every rounding propagates to the outputs in the same way. The range of f32 is modelled as well: numbers
// above it are infinite, near its end maybe infinite, and below it uncertain.
//
// Half of the error depends on the operands alone: as in a kernel, equal operands round alike, and a sum of
// many of them drifts. The other half does not, so that equal terms never cancel exactly. Every draw also
// leans a little to one side: if inputs repeat, each block of a kernel rounds like the one before it,
// although their places in the definition differ.
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
    // How much larger than the result the intermediate values of a kernel may be, which works in another
    // order: terms than their sum, partial products than the result.
    static constexpr double headroom = 0x1p40;
    friend class NoiseScope;
    template <class Real>
    friend class SumOfProducts;

    // The noise of the running thread.
    struct State {
        Rounding rounding;
        uint64_t random = 0;  // the random state after the last operation
        uint64_t draw = 0;
        double lean = 0;                   // added to every error, in the same units
        bool multiplies_infinity = false;  // whether it did in this NoiseScope

        double next() { return share(random += 0x9E3779B97F4A7C15u); }
        double error_of(uint64_t operands) {
            return half * (next() + share((operands ^ draw) * 0xD6E8FEB86659FD93u));
        }
        // The number with a random error of about `unit` times the number.
        double off(double number, double unit, uint64_t operands) {
            return number * (1 + unit * (error_of(operands) + lean));
        }
        // Turns a random state into a number from -1 to 1 by the steps of splitmix64, as Random does.
        static double share(uint64_t mixed) {
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
            return static_cast<double>(static_cast<int64_t>(mixed)) * 0x1p-63;
        }
        static constexpr double half = 0.70710678;  // sqrt(1/2): each part has half of the variance
    };
    static State& state() {
        thread_local State current;
        return current;
    }

    // The sign, the exponent and 20 bits of the mantissa, which the noise of an operand does not change.
    static uint64_t leading(double number) { return std::bit_cast<uint64_t>(number) >> 32; }

    // The operands that decide how a sum rounds. Only the smaller term does: the larger one is a multiple of
    // the unit of rounding.
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
        const double off = state().off(result, state().rounding.arithmetic, operands);
        return is_usual(off) ? Noisy(off) : near_overflow(off);
    }
    // Whether a number is far from both ends of the range, as nearly all are; 0 and NaN are not.
    static bool is_usual(double result) {
        const double size = std::abs(result);
        return size >= state().rounding.smallest && size <= FLT_MAX / headroom;
    }
    [[gnu::noinline]] static Noisy near_overflow(double result) {
        const bool is_near = std::abs(result) > FLT_MAX / headroom;
        if (is_near && state().next() < 0.5) return Noisy(std::copysign(INFINITY, result));
        return within(result, FLT_MAX);
    }
    [[gnu::noinline]] static Noisy within(double result, double largest) {
        const double size = std::abs(result);
        if (size > largest) return Noisy(std::copysign(INFINITY, result));
        if (size >= state().rounding.smallest || size == 0 || std::isnan(result)) return Noisy(result);
        if (size < 0x1p-150) return Noisy(0);
        const double share = state().next();  // the number may lose digits or become 0
        return Noisy(share < 0 ? 0 : result * (1 + 0.5 * share));
    }

    double value_ = 0;
};

// Returns the value of a number of either type; a double is never narrowed.
inline double value_of(double number) { return number; }
inline double value_of(Noisy number) { return number.value(); }
inline double narrow(double number) { return number; }
inline double stored(double number) { return number; }

// A sum of products. With Noisy all roundings are drawn at once, with the same variance, which is much
// faster; half of the error depends on the sum alone, as equal rows round alike. If a partial sum may have
// left the range of f32, the total is unknown.
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
    // Takes a sum and the sum of squares of all values that were rounded on the way to it.
    SumOfProducts(double sum, double squares) : sum_(sum), squares_(squares) {}

    void add(Noisy left, Noisy right) {
        const double product = left.value() * right.value();
        sum_ += product;
        squares_ += product * product + sum_ * sum_;
    }
    Noisy total() const {
        Noisy::State& state = Noisy::state();
        constexpr double most = FLT_MAX / Noisy::headroom;
        if (!std::isfinite(sum_)) {
            state.multiplies_infinity = true;
            return sum_;
        }
        if (squares_ > most * most) return NAN;
        const uint64_t operands = Noisy::leading(sum_) << 32 | Noisy::leading(squares_);
        const double off = sum_ + state.rounding.arithmetic * std::sqrt(squares_) * state.error_of(operands);
        return Noisy::is_usual(off) ? Noisy(off) : Noisy::within(off, FLT_MAX);
    }

  private:
    double sum_ = 0, squares_ = 0;  // `squares_` of all values that were rounded
};
// Returns a sum that is narrowed at once.
inline double narrow_sum(double left, double right) { return left + right; }

// Sets the noise of Noisy on this thread while it lives.
class NoiseScope {
  public:
    NoiseScope(const Rounding& rounding, uint64_t seed) : before_(Noisy::state()) {
        // Draws start far apart, as neighbouring states would give the same numbers one operation later.
        Random random(seed, "noise");
        Noisy::state() = {rounding, random.next(), random.next(), random.below(2) == 0 ? lean : -lean};
    }
    ~NoiseScope() { Noisy::state() = before_; }
    // A random number from 0 to count - 1, for sums that kernels add in any order.
    static int64_t choice(int64_t count) {
        const double share = (1 + Noisy::state().next()) / 2;
        return std::min(static_cast<int64_t>(share * static_cast<double>(count)), count - 1);
    }
    // Whether a product was infinite; with its factors in another order it may be NaN.
    static bool multiplies_infinity() { return Noisy::state().multiplies_infinity; }
    NoiseScope(const NoiseScope&) = delete;
    NoiseScope& operator=(const NoiseScope&) = delete;

  private:
    static constexpr double lean = 0.01;
    Noisy::State before_;
};

}  // namespace sawtooth

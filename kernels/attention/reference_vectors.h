#pragma once

// Vectors of the reference and their rotations.

#include <cmath>
#include <cstdint>
#include <vector>

namespace sawtooth::attention {

// The vectors of one head, [count, d].
struct HeadVectors {
    int64_t d = 0;
    std::vector<double> values;

    HeadVectors() = default;
    HeadVectors(int64_t count, int64_t d) : d(d), values(static_cast<size_t>(count * d)) {}
    double* row(int64_t index) { return values.data() + index * d; }
    const double* row(int64_t index) const { return values.data() + index * d; }
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

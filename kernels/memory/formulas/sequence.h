#pragma once

#include <string_view>

#include "kernels/core/array.h"
#include "kernels/core/parameter.h"
#include "kernels/memory/formulas/vectors.h"

namespace sawtooth::memory::formulas {

// M and S of one sequence. For lattice M holds the slots; for trellis M is S_K and S is S_V.
template <class Real>
struct MemoryState {
    Matrix<Real> m, s;
};

// The inputs of one sequence.
template <class Real>
class Sequence {
  public:
    Sequence(const Parameters& parameters, const Arrays& inputs, size_t batch)
        : inputs_(inputs),
          batch_(batch),
          length_(static_cast<size_t>(parameters.integer("length"))),
          d_(static_cast<size_t>(parameters.integer("d"))),
          normalises_(parameters.flag("normalise")),
          omega_window_(static_cast<size_t>(parameters.integer("omega_window"))),
          omega_windows_(find(inputs, "omega_windows")),
          k_(rows_of("k", d_)),
          v_(rows_of("v", d_)),
          q_(rows_of("q", d_)),
          x_(rows_of("x", d_)),
          alpha_(rows_of("alpha", 1)),
          eta_(rows_of("eta", 1)),
          theta_(rows_of("theta", 1)) {}

    size_t length() const { return length_; }
    size_t d() const { return d_; }

    // Loads a token's row of d numbers. Keys and queries are normalised.
    void load_k(size_t token, Real* to) const { load_unit(k_, token, to); }
    void load_q(size_t token, Real* to) const { load_unit(q_, token, to); }
    void load_v(size_t token, Real* to) const { load(v_, token, to); }
    void load_x(size_t token, Real* to) const { load(x_, token, to); }
    Real alpha(size_t token) const { return alpha_[token]; }
    Real eta(size_t token) const { return eta_[token]; }
    Real theta(size_t token) const { return theta_[token]; }
    // The tokens over which atlas_omega averages the errors of a token.
    size_t window(size_t token) const {
        return omega_windows_ ? static_cast<size_t>(omega_windows_->as<int32_t>()[batch_ * length_ + token])
                              : omega_window_;
    }

    // The state before the first token; zeros if it is not given.
    Matrix<Real> initial(std::string_view name, size_t rows, size_t columns) const {
        Matrix<Real> state(rows, columns);
        if (const Array* const array = find(inputs_, name))
            std::copy_n(array->as<float>().begin() + static_cast<std::ptrdiff_t>(batch_ * rows * columns),
                        rows * columns, state.values.begin());
        return state;
    }
    // The matrix W of atlas.
    Matrix<Real> weights() const {
        Matrix<Real> w(d_, 2 * d_);
        std::copy_n(find(inputs_, "w_omega")->as<float>().begin(), w.values.size(), w.values.begin());
        return w;
    }

  private:
    const float* rows_of(std::string_view name, size_t width) const {
        const Array* const array = find(inputs_, name);
        return array ? array->as<float>().data() + batch_ * length_ * width : nullptr;
    }
    void load(const float* rows, size_t token, Real* to) const { std::copy_n(rows + token * d_, d_, to); }
    void load_unit(const float* rows, size_t token, Real* to) const {
        load(rows, token, to);
        if (normalises_) normalise(to, d_);
    }

    const Arrays& inputs_;
    size_t batch_, length_, d_;
    bool normalises_;
    size_t omega_window_;
    const Array* omega_windows_;                              // null if absent
    const float *k_, *v_, *q_, *x_, *alpha_, *eta_, *theta_;  // inputs of the sequence; null if absent
};

// Computes w = W silu([k; v]) of atlas.
template <class Real>
class AtlasUpdate {
  public:
    explicit AtlasUpdate(Matrix<Real> weights) : weights_(std::move(weights)), input_(weights_.columns) {}

    void compute(const Real* k, const Real* v, Real* w) {
        std::copy_n(k, weights_.rows, input_.begin());
        std::copy_n(v, weights_.rows, input_.begin() + static_cast<std::ptrdiff_t>(weights_.rows));
        silu(input_.data(), input_.size());
        multiply(weights_, input_.data(), w);
    }

  private:
    Matrix<Real> weights_;
    Vector<Real> input_;
};

}  // namespace sawtooth::memory::formulas

#pragma once

#include <string>

#include "kernels/memory/formulas/sequence.h"

namespace sawtooth::memory::formulas {

// The rules, one token after another.
//   titans       e = M k - v; S = eta S - theta e k^T; M = (1 - alpha) M + S; y = M q
//   delta        the same with eta = 0
//   hebbian      M = (1 - alpha) M + v k^T
//   atlas        w = W silu([k; v]); S = eta S - theta w k^T; M = (1 - alpha) M + S
//   atlas_omega  G = 1/c sum over the c tokens of the window of (M k_i - v_i) k_i^T; S = eta S - theta G;
//                M = (1 - alpha) M + S
//   lattice      g = sigmoid(s . k); D = g v; s = normalise(s + D - (s . D) s);
//                y = sum softmax(s . q) s
//   trellis      e = S_K x - k[:c]; S_K = (1 - alpha) S_K - theta (e x^T + lambda_k S_K);
//                z = nsilu(S_K x); f = S_V z - v; S_V = (1 - alpha) S_V - theta (f z^T + lambda_v S_V);
//                y = S_V nsilu(S_K q)

// y = sum of softmax(s . q) s over unit slots s.
template <class Real>
void read_slots(const Matrix<Real>& slots, const Real* q, Vector<Real>& weights, Real* y) {
    using std::exp;
    weights.resize(slots.rows);
    multiply(slots, q, weights.data());
    const Real largest = *std::max_element(weights.begin(), weights.end());
    Real sum = 0;
    for (Real& weight : weights) sum += weight = exp(weight - largest);
    std::fill_n(y, slots.columns, Real(0));
    for (size_t i = 0; i < slots.rows; ++i) add(y, weights[i] / sum, slots.row(i), slots.columns);
}

// The state before the first token.
template <class Real>
MemoryState<Real> initial_state(const Parameters& parameters, const Sequence<Real>& tokens) {
    const size_t d = tokens.d();
    const auto c = static_cast<size_t>(parameters.integer("compress"));
    const auto slot_count = static_cast<size_t>(parameters.integer("slot_count"));
    if (parameters.is("rule", "trellis")) return {tokens.initial("sk0", c, d), tokens.initial("sv0", d, c)};
    if (!parameters.is("rule", "lattice")) return {tokens.initial("m0", d, d), tokens.initial("s0", d, d)};
    MemoryState<Real> state{tokens.initial("slots", slot_count, d), {}};
    for (size_t i = 0; i < slot_count; ++i) normalise(state.m.row(i), d);
    return state;
}

// Steps and reads a state of one sequence, without allocating memory.
template <class Real>
class ExactRule {
  public:
    ExactRule(const Parameters& parameters, const Sequence<Real>& tokens)
        : rule_(parameters.text("rule")),
          tokens_(tokens),
          d_(tokens.d()),
          c_(static_cast<size_t>(parameters.integer("compress"))),
          window_(is("atlas_omega")
                      ? std::min(static_cast<size_t>(parameters.integer("omega_window")), tokens.length())
                      : 1),
          lambda_k_(parameters.real("lambda_k")),
          lambda_v_(parameters.real("lambda_v")),
          atlas_(is("atlas") ? tokens.weights() : Matrix<Real>()),
          keys_(window_, d_),
          values_(window_, d_),
          q_(d_),
          x_(d_),
          w_(d_),
          z_(c_) {}

    void step(MemoryState<Real>& state, size_t t) { step(state, t, state.m); }
    // Lets windows begin at a token, with a memory that starts there.
    void start_at(size_t token) { first_token_ = token; }
    // Takes the errors of a matrix rule from `memory` instead of the state. Steps of atlas_omega must start
    // at token 0 and leave none out, because its windows reach back.
    void step(MemoryState<Real>& state, size_t t, const Matrix<Real>& memory) {
        Real *const k = keys_.row(t % window_), *const v = values_.row(t % window_);
        tokens_.load_k(t, k);
        tokens_.load_v(t, v);
        if (is("lattice")) return step_slots(state.m, k, v);
        const Real decay = Real(1) - tokens_.alpha(t);
        if (is("trellis")) return step_trellis(state, t, decay, k, v);
        if (is("hebbian")) return step_without_momentum(state.m, decay, v, k);
        const Real theta = tokens_.theta(t);
        if (is("delta")) {
            multiply(memory, k, w_.data());
            for (size_t i = 0; i < d_; ++i) w_[i] = -theta * (w_[i] - v[i]);
            return step_without_momentum(state.m, decay, w_.data(), k);
        }
        if (is("atlas_omega"))
            add_window(state.s, t, theta / Real(tokens_.window(t)), memory);
        else
            add_error(state.s, t, memory, k, v);
        for (size_t i = 0; i < d_ * d_; ++i)
            state.m.values[i] = multiply_add(decay, state.m.values[i], state.s.values[i]);
    }

    void read(const MemoryState<Real>& state, size_t t, Real* y) {
        tokens_.load_q(t, q_.data());
        if (is("lattice")) return read_slots(state.m, q_.data(), z_, y);
        if (!is("trellis")) return multiply(state.m, q_.data(), y);
        multiply(state.m, q_.data(), z_.data());
        nsilu(z_.data(), c_);
        multiply(state.s, z_.data(), y);
    }

  private:
    bool is(std::string_view name) const { return rule_ == name; }

    // M = decay M + u k^T.
    void step_without_momentum(Matrix<Real>& m, Real decay, const Real* u, const Real* k) const {
        for (size_t i = 0; i < m.rows; ++i) combine(m.row(i), decay, u[i], k, m.columns);
    }

    // S = eta S - theta e k^T.
    void add_error(Matrix<Real>& s, size_t t, const Matrix<Real>& memory, const Real* k, const Real* v) {
        if (is("atlas"))
            atlas_.compute(k, v, w_.data());
        else
            multiply(memory, k, w_.data());
        for (size_t i = 0; i < d_; ++i) {
            const Real e = is("atlas") ? w_[i] : w_[i] - v[i];
            combine(s.row(i), tokens_.eta(t), -tokens_.theta(t) * e, k, d_);
        }
    }

    // S = eta S - theta G; `step` is theta / c, also while the window is filling.
    void add_window(Matrix<Real>& s, size_t t, Real step, const Matrix<Real>& memory) const {
        scale(s.values.data(), tokens_.eta(t), d_ * d_);
        const size_t first = t + 1 - std::min(tokens_.window(t), t + 1);
        for (size_t token = std::max(first, first_token_); token <= t; ++token) {
            const Real *const k = keys_.row(token % window_), *const v = values_.row(token % window_);
            for (size_t i = 0; i < d_; ++i)
                add(s.row(i), -step * (dot<Real>(memory.row(i), k, d_) - v[i]), k, d_);
        }
    }

    void step_slots(Matrix<Real>& slots, const Real* k, const Real* v) const {
        for (size_t i = 0; i < slots.rows; ++i) {
            Real* const s = slots.row(i);
            const Real g = sigmoid(dot<Real>(s, k, d_)), along = g * dot<Real>(s, v, d_);
            combine(s, Real(1) - along, g, v, d_);
            normalise(s, d_);
        }
    }

    void step_trellis(MemoryState<Real>& state, size_t t, Real decay, const Real* k, const Real* v) {
        const Real theta = tokens_.theta(t);
        tokens_.load_x(t, x_.data());
        multiply(state.m, x_.data(), z_.data());
        for (size_t i = 0; i < c_; ++i) z_[i] = -theta * (z_[i] - k[i]);
        step_without_momentum(state.m, decay - theta * lambda_k_, z_.data(), x_.data());
        multiply(state.m, x_.data(), z_.data());
        nsilu(z_.data(), c_);
        multiply(state.s, z_.data(), w_.data());
        for (size_t i = 0; i < d_; ++i) w_[i] = -theta * (w_[i] - v[i]);
        step_without_momentum(state.s, decay - theta * lambda_v_, w_.data(), z_.data());
    }

    std::string rule_;
    const Sequence<Real>& tokens_;
    size_t d_, c_;
    size_t window_;           // tokens of the longest window
    size_t first_token_ = 0;  // that windows reach
    Real lambda_k_, lambda_v_;
    AtlasUpdate<Real> atlas_;
    Matrix<Real> keys_, values_;  // of the last `window` tokens; token t is in row t % window
    Vector<Real> q_, x_, w_, z_;
};

}  // namespace sawtooth::memory::formulas

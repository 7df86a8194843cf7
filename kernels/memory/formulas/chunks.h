#pragma once

#include "kernels/memory/formulas/vectors.h"

namespace sawtooth::memory::formulas {

// The gate of a token: what it keeps of M and of S, its step, and the tokens whose errors the step averages.
template <class Real>
struct Gate {
    Real decay, keep, step;
    size_t window = 1;
};

// The tokens of a tile: gates, keys [count, columns], values [count, rows].
template <class Real>
struct TileTokens {
    std::vector<Gate<Real>> gates;
    Vector<Real> keys, values;
};

// A matrix M [rows, columns] and its momentum S in chunks, in matrix form. Chunks are cut into tiles. The
// sources of a tile, its tokens and earlier ones inside their windows, have errors e and give
//   y_t = a_t M q_t + b_t S q_t - sum over s <= t of w_ts e_s (k_s . q_t)
//   M_t = a_t M + b_t S - sum of w_ts e_s k_s^T,  S_t = h_t S - sum of h_ts e_s k_s^T
// with M and S before the tile. Errors are frozen at the boundary of the chunk, e_s = M_boundary k_s - v_s,
// or exact, e_t = a_(t-1) M k_t - v_t - sum over s < t of w_(t-1)s (k_s . k_t) e_s. These are solved for all
// M at once: (I + T) X = [diag(a) K, V], e = X_K M - X_V.
// narrow() marks the factors of products on tensor cores, stored() what is read from memory without being a
// factor.
template <class Real>
class MatrixChunks {
  public:
    struct Settings {
        size_t window = 1;         // the longest of all tokens
        bool reads_memory = true;  // otherwise e = -v
        bool has_momentum = false;
        bool solves = false;           // exact errors; without windows or momentum
        bool multiplies_bf16 = false;  // factors are bf16 on tensor cores
    };

    MatrixChunks(const Settings& settings, Matrix<Real> m, Matrix<Real> s)
        : settings_(settings), m_(std::move(m)), s_(std::move(s)), query_(columns()) {}

    const Matrix<Real>& m() const { return m_; }
    const Matrix<Real>& s() const { return s_; }

    // Takes the next tile and computes its coefficients and errors.
    void take(const TileTokens<Real>& tokens, bool opens_chunk) {
        take_sources(tokens);
        m_factors_ = transposed(narrowed(m_));
        if (opens_chunk) boundary_factors_ = m_factors_;
        if (settings_.has_momentum) s_factors_ = transposed(narrowed(s_));
        make_coefficients();
        if (settings_.solves) solve();
        make_errors();
    }

    // Computes y [count, rows] for queries [count, columns].
    void read(const Vector<Real>& queries, bool at_boundary, Vector<Real>& y) {
        y.resize(gates_.size() * rows());
        for (size_t t = 0; t < gates_.size(); ++t) {
            const Real* const q = queries.data() + t * columns();
            Real* const result = y.data() + t * rows();
            std::fill_n(result, rows(), Real(0));
            if (at_boundary)
                add_rows(scaled_query(Real(1), q), boundary_factors_, columns(), result, rows());
            else
                read_evolving(t, q, result);
        }
    }

    // Advances M and S over the tile.
    void advance() {
        const size_t last = gates_.size() - 1;
        for (size_t i = 0; i < rows(); ++i) {
            Real *const m = m_.row(i), *const s = settings_.has_momentum ? s_.row(i) : nullptr;
            for (size_t j = 0; j < columns(); ++j)
                m[j] = s ? multiply_add(b_[last], s[j], a_[last] * m[j]) : a_[last] * m[j];
            add_updates(weights_of(last), i, m);
            if (!s) continue;
            scale(s, kept_, columns());
            add_updates(h_.data(), i, s);
        }
    }

    // Scales the rows of M to norms sqrt(columns).
    void rescale() { rescale_rows(m_); }

  private:
    size_t rows() const { return m_.rows; }
    size_t columns() const { return m_.columns; }
    size_t sources() const { return keys_.rows; }
    size_t visible(size_t t) const {
        return sources() - gates_.size() + t + 1;
    }  // number of sources that token t sees
    Real* weights_of(size_t t) { return w_.data() + t * sources(); }

    static Matrix<Real> narrowed(Matrix<Real> m) {
        for (Real& value : m.values) value = narrow(value);
        return m;
    }
    static Matrix<Real> transposed(const Matrix<Real>& m) {
        Matrix<Real> turned(m.columns, m.rows);
        for (size_t i = 0; i < m.rows; ++i)
            for (size_t j = 0; j < m.columns; ++j) turned.row(j)[i] = m.row(i)[j];
        return turned;
    }
    // The solve rounds at least to tf32, which has three bits more than bf16.
    Real factor_of_solve(Real value) const {
        return settings_.multiplies_bf16 ? value + (narrow(value) - value) * Real(0.125) : narrow(value);
    }

    // Appends the tokens to those earlier sources that windows reach.
    void take_sources(const TileTokens<Real>& tokens) {
        gates_ = tokens.gates;
        const size_t halo = std::min(settings_.window - 1, keys_.rows);
        replace_front(keys_, halo, tokens.keys, columns());
        replace_front(values_, halo, tokens.values, rows());
        key_factors_ = narrowed(keys_);
        key_columns_ = transposed(key_factors_);
    }
    void replace_front(Matrix<Real>& all, size_t halo, const Vector<Real>& added, size_t width) const {
        auto& values = all.values;
        values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(halo * width));
        values.insert(values.end(), added.begin(), added.end());
        all.rows = halo + gates_.size();
        all.columns = width;
    }

    // Computes a, b and w [count, sources] after every token, and h of the sources and of S after the last
    // one.
    void make_coefficients() {
        const size_t count = gates_.size();
        a_.resize(count);
        b_.resize(count);
        w_.assign(count * sources(), 0);
        h_.assign(sources(), 0);
        Real a = 1, b = 0;
        kept_ = 1;
        for (size_t t = 0; t < count; ++t) {
            const auto& [decay, keep, step, window] = gates_[t];
            kept_ *= keep;
            a_[t] = a *= decay;
            b_[t] = b = multiply_add(decay, b, kept_);
            const size_t first = visible(t) - std::min(window, visible(t));
            for (size_t s = 0; s < visible(t); ++s) {
                h_[s] *= keep;
                if (s >= first) h_[s] += step;
                const Real before = t > 0 ? weights_of(t - 1)[s] : Real(0);
                weights_of(t)[s] = multiply_add(decay, before, h_[s]);
            }
        }
    }

    // Turns keys and values into those that give the exact errors with M.
    void solve() {
        solved_keys_ = keys_;
        Matrix<Real> keys = keys_;  // the keys as factors
        for (Real& value : keys.values) value = factor_of_solve(value);
        Matrix<Real> x(sources(), columns() + rows());  // the solved keys, then the values, as factors
        for (size_t t = 0; t < sources(); ++t) {
            Real *const key = solved_keys_.row(t), *const value = values_.row(t);
            if (t > 0) scale(key, a_[t - 1], columns());
            for (size_t s = 0; s < t; ++s) {
                const Real product = dot<Real>(keys.row(s), keys.row(t), columns());
                const Real factor = -factor_of_solve(weights_of(t - 1)[s] * product);
                add(key, factor, x.row(s), columns());
                add(value, factor, x.row(s) + columns(), rows());
            }
            for (size_t i = 0; i < columns(); ++i) x.row(t)[i] = factor_of_solve(key[i]);
            for (size_t i = 0; i < rows(); ++i) x.row(t)[columns() + i] = factor_of_solve(value[i]);
        }
        solved_keys_ = narrowed(std::move(solved_keys_));
    }

    void make_errors() {
        errors_ = Matrix<Real>(sources(), rows());
        const Matrix<Real>& m = settings_.solves ? m_factors_ : boundary_factors_;
        const Matrix<Real>& keys = settings_.solves ? solved_keys_ : key_factors_;
        for (size_t s = 0; s < sources(); ++s) {
            Real* const errors = errors_.row(s);
            if (settings_.reads_memory) add_rows(keys.row(s), m, columns(), errors, rows());
            for (size_t i = 0; i < rows(); ++i) {
                const Real v = stored(values_.row(s)[i]);
                errors[i] = settings_.reads_memory ? errors[i] - v : -v;
            }
        }
        error_factors_ = narrowed(errors_);
    }

    // factor * q, rounded as a factor of a product.
    const Real* scaled_query(Real factor, const Real* q) {
        for (size_t i = 0; i < columns(); ++i) query_[i] = narrow(factor * q[i]);
        return query_.data();
    }

    void read_evolving(size_t t, const Real* q, Real* y) {
        add_rows(scaled_query(a_[t], q), m_factors_, columns(), y, rows());
        if (settings_.has_momentum) add_rows(scaled_query(b_[t], q), s_factors_, columns(), y, rows());
        scores_.assign(visible(t), Real(0));
        add_rows(scaled_query(Real(1), q), key_columns_, columns(), scores_.data(), visible(t));
        for (size_t s = 0; s < visible(t); ++s) scores_[s] = -narrow(weights_of(t)[s] * scores_[s]);
        add_rows(scores_.data(), error_factors_, visible(t), y, rows());
    }

    // Adds the updates -w_s e_s k_s^T of all sources to row i of M or S.
    void add_updates(const Real* weights, size_t i, Real* row) {
        scores_.resize(sources());
        for (size_t s = 0; s < sources(); ++s) scores_[s] = -narrow(weights[s] * errors_.row(s)[i]);
        add_rows(scores_.data(), key_factors_, sources(), row, columns());
    }

    Settings settings_;
    Matrix<Real> m_, s_;
    // M, S and M at the chunk's boundary, transposed and rounded as factors of products.
    Matrix<Real> m_factors_, s_factors_, boundary_factors_;
    std::vector<Gate<Real>> gates_;
    // One row for each source; key_columns_ has one column for each.
    Matrix<Real> keys_, values_, solved_keys_, errors_, error_factors_, key_factors_, key_columns_;
    Vector<Real> a_, b_, w_, h_;
    Real kept_ = 1;
    Vector<Real> query_, scores_;
};

}  // namespace sawtooth::memory::formulas

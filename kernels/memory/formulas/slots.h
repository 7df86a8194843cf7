#pragma once

#include "kernels/memory/formulas/exact.h"

namespace sawtooth::memory::formulas {

// The slots of lattice in chunks, with g and s . v of a chunk at the slots s of its boundary:
//   frozen       x_t = x_(t-1) + g_t v_t - g_t (s . v_t) s
//   linearised   x_t = (1 - g_t (s . v_t)) x_(t-1) + g_t v_t
// from x = s, with g_t = sigmoid(s . k_t). Tokens read normalise(x_t) or s; the next boundary is
// normalise(x). Chunks are cut into tiles, and x passes from tile to tile by one sum of weighted values.
template <class Real>
class SlotChunks {
  public:
    SlotChunks(Matrix<Real> slots, bool linearises) : x_(std::move(slots)), linearises_(linearises) {}

    const Matrix<Real>& slots() const { return x_; }

    // Takes the next tile, with keys and values [count, d].
    void take(const Vector<Real>& keys, Vector<Real> values, bool opens_chunk) {
        if (opens_chunk) boundary_ = x_;
        values_ = std::move(values);
        count_ = values_.size() / d();
        gates_ = along_ = Matrix<Real>(x_.rows, count_);
        for (size_t i = 0; i < x_.rows; ++i)
            for (size_t t = 0; t < count_; ++t) {
                const Real g = sigmoid(dot<Real>(boundary_.row(i), keys.data() + t * d(), d()));
                gates_.row(i)[t] = g;
                along_.row(i)[t] = g * dot<Real>(boundary_.row(i), value(t), d());
            }
    }

    // Computes y [count, d] for queries [count, d].
    void read(const Vector<Real>& queries, bool at_boundary, Vector<Real>& y) {
        y.resize(queries.size());
        evolving_ = x_;
        for (size_t t = 0; t < count_; ++t) {
            if (!at_boundary) {
                for (size_t i = 0; i < x_.rows; ++i) step(evolving_.row(i), i, t);
                units_ = evolving_;
                normalise_rows(units_);
            }
            read_slots(at_boundary ? boundary_ : units_, queries.data() + t * d(), scores_,
                       y.data() + t * d());
        }
    }

    // Advances the slots over the tile.
    void advance(bool closes_chunk) {
        for (size_t i = 0; i < x_.rows; ++i) {
            const Real *const g = gates_.row(i), *const along = along_.row(i);
            scores_.resize(count_);
            Real stays = 1, boundary_weight = 0;
            for (size_t t = count_; t-- > 0;) {
                scores_[t] = g[t] * stays;
                if (linearises_)
                    stays *= Real(1) - along[t];
                else
                    boundary_weight += along[t];
            }
            Real* const x = x_.row(i);
            combine(x, stays, -boundary_weight, boundary_.row(i), d());
            for (size_t t = 0; t < count_; ++t) add(x, scores_[t], value(t), d());
        }
        if (closes_chunk) normalise_rows(x_);
    }

  private:
    size_t d() const { return x_.columns; }
    const Real* value(size_t t) const { return values_.data() + t * d(); }
    static void normalise_rows(Matrix<Real>& m) {
        for (size_t i = 0; i < m.rows; ++i) normalise(m.row(i), m.columns);
    }

    void step(Real* x, size_t i, size_t t) const {
        const Real along = along_.row(i)[t];
        combine(x, linearises_ ? Real(1) - along : Real(1), gates_.row(i)[t], value(t), d());
        if (!linearises_) add(x, -along, boundary_.row(i), d());
    }

    Matrix<Real> x_, boundary_;
    bool linearises_;
    // One column per token of the tile: g and g (s . v).
    size_t count_ = 0;
    Matrix<Real> gates_, along_;
    Vector<Real> values_, scores_;
    Matrix<Real> evolving_, units_;
};

}  // namespace sawtooth::memory::formulas

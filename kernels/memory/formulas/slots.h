#pragma once

#include "kernels/memory/formulas/exact.h"

namespace sawtooth::memory::formulas {

// The slots of lattice in chunks, with g and s . v of a chunk at the slots s of its boundary:
//   frozen       x_t = x_(t-1) + g v_t - g (s . v_t) s
//   linearised   x_t = (1 - g (s . v_t)) x_(t-1) + g v_t
// from x = s, with g = sigmoid(s . k_t). Tokens read normalise(x_t) or s; the next boundary is normalise(x).
template <class Real>
class FrozenSlots {
  public:
    FrozenSlots(Matrix<Real> slots, bool linearises)
        : x_(std::move(slots)), boundary_(x_), units_(x_), linearises_(linearises) {}

    const Matrix<Real>& slots() const { return x_; }

    void start_chunk() { boundary_ = x_; }
    void end_chunk() { normalise_rows(x_); }

    void step(const Real* k, const Real* v) {
        const size_t d = x_.columns;
        for (size_t i = 0; i < x_.rows; ++i) {
            Real *const x = x_.row(i), *const s = boundary_.row(i);
            const Real g = sigmoid(dot(s, k, d)), along = g * dot(s, v, d);
            combine(x, linearises_ ? Real(1) - along : Real(1), g, v, d);
            if (!linearises_) add(x, -along, s, d);
        }
    }

    void read(const Real* q, bool at_boundary, Real* y) {
        if (at_boundary) return read_slots(boundary_, q, weights_, y);
        units_.values = x_.values;
        normalise_rows(units_);
        read_slots(units_, q, weights_, y);
    }

  private:
    static void normalise_rows(Matrix<Real>& m) {
        for (size_t i = 0; i < m.rows; ++i) normalise(m.row(i), m.columns);
    }

    Matrix<Real> x_, boundary_, units_;
    Vector<Real> weights_;
    bool linearises_;
};

}  // namespace sawtooth::memory::formulas

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/lut_table/cpu/rows.h"
#include "kernels/lut_table/overflow.h"

namespace sawtooth::lut_table {

// The two arithmetics; kernels are templates over one of them. A Sum is a sum of terms, which are computed as
// Real. `finish` writes sums as floats.

struct FloatSums {
    using Sum = float;
    using Real = float;

    explicit FloatSums(PlanBuilder&) {}

    Sum term(Real value) const { return value; }
    Real value(Sum sum) const { return sum; }
    void check(Sum, Fault) const {}
    Sum dot(const float* left, const float* right, int64_t columns) const {
        return lut_table::dot(left, right, columns);
    }
    void add_rows(const float* const* rows, int64_t count, int64_t columns, double factor, Sum* sums) const {
        lut_table::add_rows(rows, count, columns, static_cast<float>(factor), sums);
    }
    void finish(const Sum* sums, int64_t count, Fault, float* to) const { std::copy_n(sums, count, to); }
};

struct IntegerSums {
    using Sum = int64_t;
    using Real = double;

    explicit IntegerSums(PlanBuilder& builder)
        : fixed{builder.parameters().real("rescale")}, overflows(take_overflows(builder)) {}

    Sum term(Real value) const { return fixed.term(value); }
    Real value(Sum sum) const { return fixed.value(sum); }
    // Fails the run if the sum leaves int32.
    void check(Sum sum, Fault fault) const {
        if (FixedPoint::overflows(sum)) fail(fault);
    }
    Sum dot(const float* left, const float* right, int64_t columns) const {
        return lut_table::dot(left, right, columns, fixed);
    }
    void add_rows(const float* const* rows, int64_t count, int64_t columns, double factor, Sum* sums) const {
        lut_table::add_rows(rows, count, columns, factor, fixed, sums);
    }
    void finish(const Sum* sums, int64_t count, Fault fault, float* to) const {
        if (!convert(sums, count, fixed, to)) fail(fault);
    }

    FixedPoint fixed;
    int32_t* overflows;

  private:
    void fail(Fault fault) const { std::atomic_ref(overflows[fault]).store(1, std::memory_order_relaxed); }
};

}  // namespace sawtooth::lut_table

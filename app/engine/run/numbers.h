#pragma once

#include <cstdint>

#include "kernels/core/array.h"

namespace sawtooth {

// The numbers of an array: a complex one counts as two.
class Numbers {
  public:
    explicit Numbers(const Array& array)
        : data_(array.data.get()),
          dtype_(array.dtype),
          parts_(array.dtype == Dtype::complex64 || array.dtype == Dtype::complex128 ? 2 : 1),
          count_(array.count() * parts_) {}

    int64_t count() const { return count_; }
    int parts() const { return parts_; }
    double operator[](int64_t i) const {
        const auto at = static_cast<size_t>(i);
        switch (dtype_) {
            case Dtype::f32:
            case Dtype::complex64:
                return static_cast<const float*>(data_)[at];
            case Dtype::int32:
                return static_cast<const int32_t*>(data_)[at];
            default:
                return static_cast<const double*>(data_)[at];
        }
    }

  private:
    const void* data_;  // Array::as() would count the elements of the shape for every number
    Dtype dtype_;
    int parts_;
    int64_t count_;
};

}  // namespace sawtooth

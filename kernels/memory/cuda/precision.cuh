// What PRECISION, as which a kernel is compiled, makes of the factors of its products.
#pragma once

#include "kernels/memory/products.cuh"

namespace sawtooth::memory {

constexpr Precision precision = Precision::PRECISION;
using P = Products<precision>;
using Element = P::Element;

}  // namespace sawtooth::memory

// What PRECISION, as which a kernel is compiled, makes of the factors of its products.
#pragma once

#include "kernels/cuda/device/products.cuh"

namespace sawtooth::memory {

constexpr device::Precision precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;

}  // namespace sawtooth::memory

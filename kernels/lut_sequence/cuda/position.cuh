// A position and its pairs with all earlier ones; late positions, which have most, come first.
#pragma once

#include "kernels/lut_sequence/cuda/pairs.cuh"

namespace sawtooth::lut_sequence {

struct Place {
    int64_t item, j, position;

    __device__ explicit Place(const Arguments& given)
        : item(blockIdx.x % given.sequences),
          j(given.length - 1 - blockIdx.x / given.sequences),
          position(item * given.length + j) {}

    // Pair m / T of the position, and detector m % T.
    __device__ Pair pair(const Arguments& given, int64_t m) const {
        return {given, item, m / given.detectors, j, m % given.detectors};
    }
    // Of the first pair, in du.
    __device__ int64_t first_du(const Arguments& given) const {
        return (item * given.pairs + j * (j - 1) / 2) * given.detectors;
    }
};

}  // namespace sawtooth::lut_sequence

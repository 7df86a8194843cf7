// One position per thread block, and its pairs with all earlier positions. The last positions, which have the
// most pairs, come first:
//   blockIdx.x   0 … B - 1   B … 2 B - 1   …   (S - 1) B … S B - 1
//   sequence     0 … B - 1   0 … B - 1         0 … B - 1
//   j            S - 1       S - 2             0, without pairs
// The pairs and detectors of a position are numbered m = i T + detector; they are entry m from first_du on in
// du [B, pairs, T].
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
    // The entry in du of the first pair and detector.
    __device__ int64_t first_du(const Arguments& given) const {
        return (item * given.pairs + j * (j - 1) / 2) * given.detectors;
    }
};

}  // namespace sawtooth::lut_sequence

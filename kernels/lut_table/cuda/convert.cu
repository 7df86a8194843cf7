// Turns integer sums into floats. An overflow sets the fault.

#define INTEGER true
#include "kernels/lut_table/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/sums.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_table;

// Grid: ceil(n / block_size). Thread i of the grid owns number i of
//   sums [n] int64  ->  to [n] = sums / scale  ->  after [n] = before - to, with the policy `internal`
// With scale = 2^16 the sum 32768 becomes 0.5.
extern "C" __global__ void __launch_bounds__(THREADS) convert_integers_to_floats(Convert given) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i >= given.count) return;
    const auto value = static_cast<float>(value_of(given.sums[i], given.scale, given.fault));
    given.to[i] = value;
    if (given.after) given.after[i] = given.before[i] - value;
}

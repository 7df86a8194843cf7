// da [H, L] of gates that the batch shares: the sum of da [B, H, L] over its sequences, in their order.
//
// Defines: THREADS.

#include "kernels/btp/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

// Grid: ceil(H L / THREADS). A thread owns one gate, and there are no barriers.
//
//   sequence 0   | a0 a1 a2 … |   + down the column of the thread
//   sequence 1   | a0 a1 a2 … |   v
//   da           | a0 a1 a2 … |
extern "C" __global__ void __launch_bounds__(THREADS) sum_of_sequences(SumArguments given) {
    const int64_t gate = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (gate >= given.gates) return;
    float sum = 0;
    for (int64_t sequence = 0; sequence < given.sequences; ++sequence)
        sum += given.da_of_sequences[sequence * given.gates + gate];
    given.da[gate] = sum;
}

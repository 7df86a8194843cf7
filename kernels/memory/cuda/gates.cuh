#pragma once

#include "kernels/memory/cuda/arguments.cuh"

namespace sawtooth::memory {

// What a token does to a state: how much of it stays, how much of the momentum, and how large its step is.
struct Gate {
    float decay, keep, step;
};

__device__ inline Gate gate_at(const GateArguments& gates, int64_t token_of_batch) {
    const float step = gates.theta ? gates.theta[token_of_batch] : 1;
    const float forgets = gates.alpha ? gates.alpha[token_of_batch] : 0;
    return {1 - forgets - gates.lambda * step, gates.eta ? gates.eta[token_of_batch] : 0, step * gates.share};
}

}  // namespace sawtooth::memory

// The weights of a neuron, which lie side by side:
//   full     begin = neuron * outputs,  count = outputs;  weight k belongs to output k
//   sparse   begin = offsets[neuron],   count = offsets[neuron + 1] - begin;  to output targets[begin + k]
// Defines: SPARSE, ALIGNED (whether the number of outputs is a multiple of 4).
#pragma once

#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut_table {

// Weights begin … begin + count - 1 of the array; the one at begin + k belongs to output target(k).
struct Row {
    int64_t begin = 0;
    int count = 0;

    Row() = default;
    __device__ Row(const Table& table, int64_t neuron, int64_t outputs) {
        if constexpr (SPARSE) {
            begin = table.offsets[neuron];
            count = table.offsets[neuron + 1] - static_cast<int32_t>(begin);
        } else {
            begin = neuron * outputs;
            count = static_cast<int>(outputs);
        }
    }
    __device__ int target(const Table& table, int k) const { return SPARSE ? table.targets[begin + k] : k; }
};

__device__ inline bool has_synapses(const Table& table, int64_t neuron) {
    return !SPARSE || table.offsets[neuron + 1] > table.offsets[neuron];
}

// Calls each(synapse, target) for the synapses of a neuron whose target belongs to `outputs`, a group at a
// time.
template <class Block, class Each>
__device__ void for_synapses(const CommonArguments& given, int64_t neuron, const Block& outputs, Each each) {
    const Row row(given.table, neuron, given.outputs);
    for (int64_t group = 0; group < row.count; group += given.group) {
        const int64_t end = group + given.group < row.count ? group + given.group : row.count;
        for (int64_t k = group; k < end; ++k) {
            const int target = row.target(given.table, static_cast<int>(k));
            if (outputs.has(target)) each(row.begin + k, target);
        }
    }
}

// Returns the learning rate of a weight: lr, multiplied by the rate of its meta if there are metas.
__device__ inline double rate(const Table& table, double lr, int64_t weight) {
    return table.metas ? lr * table.meta_rates[table.metas[weight]] : lr;
}

// Loads numbers at … at + 3 of a row of `count`, with zeros past its end. If ALIGNED, rows start at multiples
// of 16 bytes, `count` is a multiple of 4, and so is `at`, which lies inside the row.
__device__ inline void load_four(const float* row, int64_t at, int64_t count, float (&four)[4]) {
    if constexpr (ALIGNED) {
        const float4 all = *reinterpret_cast<const float4*>(row + at);
        four[0] = all.x, four[1] = all.y, four[2] = all.z, four[3] = all.w;
    } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) four[k] = at + k < count ? row[at + k] : 0;
    }
}

// Stores numbers at … at + 3 of a row, except those past its end.
__device__ inline void store_four(float* row, int64_t at, int64_t count, const float (&four)[4]) {
    if constexpr (ALIGNED) {
        *reinterpret_cast<float4*>(row + at) = {four[0], four[1], four[2], four[3]};
    } else {
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (at + k < count) row[at + k] = four[k];
    }
}

}  // namespace sawtooth::lut_table

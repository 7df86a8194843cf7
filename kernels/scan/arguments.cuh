// What the kernels of this folder are given: one plain struct a kernel, the same for the host, which fills it
// in. Arrays are [batches, length, channels], channels fastest, where nothing else is said.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::scan::device_side {

// Values that belong together, a plane each: a and x of linear, else x alone.
struct Inputs {
    const void* plane[2];
};
// States, a plane a float: of operators of one float the second is null.
struct States {
    float* plane[2];
};

// sequential.cu, lookback_chains.cu, and what the structs below begin with.
struct Scan {
    Inputs in;
    const float* initial;  // [batches, channels]; null: 0
    void* y;
    int64_t length, channels, batches;
};

// hillis_steele.cu: position t is joined with t - reach.
struct Doubling : Scan {
    States from, to;
    int64_t reach;
};

// blelloch.cu: two neighbouring heights of the tree, [batches, nodes, channels]. The root has no states, the
// leaves are the inputs.
struct Sweep : Scan {
    States parents, children;
    int64_t parent_count, child_count;  // of a sequence
};

// three_phase*.cu
struct Phases : Scan {
    States local;
    States totals;  // [batches, blocks, channels]; what stands before each block, once those are scanned
    int64_t blocks;
};

// lookback_columns.cu and lookback_rows.cu
struct Lookback : Scan {
    unsigned long long* counter;  // of tickets
    void* board;                  // what tiles publish, device::Lookback::Part
};

// gradients.cu
struct Gradients {
    const void* a;
    void* shifted;
    const void* y;
    const float *g, *initial;
    float *da, *dinitial;  // dinitial [batches, channels]; null together with initial
    int64_t length, channels;
};

}  // namespace sawtooth::scan::device_side

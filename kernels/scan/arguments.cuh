// What the kernels of this folder are given: one plain struct a kernel, Given<…>, filled in by the host,
// which on the CPU works on the same structs. Arrays are [batch, length, channels], channels fastest, where
// nothing else is said. Step s of a scan is position s, or length - 1 - s where it is flipped.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::scan {

// Values that belong together, a plane each: a and x of linear, else x alone.
struct Inputs {
    const void* plane[2];
};
// States, a plane a float: of operators of one float the second is null.
struct Planes {
    float* plane[2];
};

// sequential.cu, lookback_chains.cu, and what every other launch is given too.
struct Scan {
    Inputs in;
    const float* initial;  // [batch, channels], the state before step 0 of linear; null: 0
    void* y;
    int64_t batch, length, channels;
};
template <class What>
struct Given : Scan, What {};

// hillis_steele.cu: position t is joined with t - reach.
struct Doubling {
    Planes from, to;
    int64_t reach;
    bool is_first, is_last;  // reads the inputs, writes y
};

// blelloch.cu: totals of height - 1 are joined to those of `height`, or the prefixes of `height` handed down.
// Nodes of height h stand for 2^h positions each; height 0 is the inputs, or y, and the root is not stored.
struct Sweep {
    Planes parents, children;           // [batch, nodes, channels]; none of the root and the leaves
    int64_t parent_count, child_count;  // nodes of a sequence
    int64_t height;
    bool is_up, is_leaf, is_root;
};

// three_phase*.cu: blocks, their totals, the sum of both.
struct Phases {
    Planes local;    // in the order of positions; y itself where a state is one f32
    Planes totals;   // [batch, blocks, channels] in the order of the scan, then what stands before each
    int64_t blocks;  // of a sequence
};

// lookback_columns.cu and lookback_rows.cu.
struct LookbackBoard {
    unsigned long long* counter;  // of tickets
    void* board;                  // what tiles publish, device::Lookback::Part
};

// gradients.cu, with the forward scan.
struct ShiftGates {
    void* shifted;  // gates moved to the step before theirs, in the storage of a
};
struct GateGradient {
    const float* dx;
    float* da;        // dx_t y_(t-1)
    float* dinitial;  // a_0 dx_0 [batch, channels]; null: not wanted
};

}  // namespace sawtooth::scan

// Kernel arguments: one plain struct per kernel, Given<…>, filled in by the host. The CPU uses the same
// structs. Arrays are [batch, length, channels], channels fastest, unless a comment says otherwise. Step s of
// a scan is position s, or length - 1 - s if it is flipped.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::scan {

// The inputs, one plane per array: a and x of a recurrence, otherwise only x.
struct Inputs {
    const void* plane[2];
};
// States, one plane per float, or per complex number; the second is null if a state is one float.
struct Planes {
    float* plane[2];
};

// All arguments of sequential.cu and lookback_chains.cu, and the first ones of every other kernel.
struct Scan {
    Inputs in;
    const float* initial;  // [batch, channels], the state of a recurrence before step 0; null means 0
    void* y;
    int64_t batch, length, channels;
};
template <class What>
struct Given : Scan, What {};

// hillis_steele.cu: joins position t with t - reach.
struct Doubling {
    Planes from, to;
    int64_t reach;
    bool is_first, is_last;  // the first step reads the inputs, the last one writes y
};

// blelloch.cu: joins the totals of height - 1 into those of `height`, or hands the prefixes of `height` down.
// A node of height h covers 2^h positions. Height 0 is the inputs, or y; the root is not stored.
struct TreeSweep {
    Planes parents, children;           // [batch, nodes, channels]; null for the root and the leaves
    int64_t parent_count, child_count;  // nodes per sequence
    int64_t height;
    bool is_up, is_leaf, is_root;
};

// three_phase*.cu: scanned blocks and the totals of the blocks.
struct Phases {
    Planes local;    // in the order of positions; y itself if a state is one f32
    Planes totals;   // [batch, blocks, channels] in the order of the scan; phase 2 makes them prefixes
    int64_t blocks;  // per sequence
};

// lookback_columns.cu and lookback_rows.cu.
struct LookbackBoard {
    unsigned long long* counter;  // ticket counter
    void* board;                  // published totals and prefixes, of the type device::Lookback::Part
};
// The chunks of a row that lookback_rows.cu joins into a group.
constexpr int chunks_of_group = 32;

// gradients.cu, in addition to the arguments of the forward scan. g is the scan of dy from the other end. If
// `adds`, which is the macro ADDS on CUDA, the gradients add to those of the scan in the other direction.
struct ShiftGates {
    void* shifted;  // every gate at the step before its own, in the storage of the gates
};
struct OutputGates {
    float* gates;  // the share of g that a step takes over from the next one
    const void* dy;
    float* widened;  // dy in f32; null if it is stored in f32
};
struct GateGradient {
    const float* g;
    float* da;        // g_t y_(t-1)
    float* dinitial;  // a_0 g_0 [batch, channels]; null if not requested
    bool adds;
};
struct InputGradient {
    const float* g;
    float* dx;  // g_t times the derivative of y_t with respect to x_t
    bool adds;
};

}  // namespace sawtooth::scan

#pragma once

#include <vector>

#include "kernels/scan/job.h"

namespace sawtooth::scan {

// The launches of the five variants in order, as both backends have them: what each is, what it reads and
// writes, and the memory that the steps hand to one another.

LaunchInfo describe_sequential(const Job& job);
LaunchInfo describe_lookback(const Job& job);

// hillis_steele: step k joins every position with the one `reach` = 2^k before it.
struct Doubling {
    int64_t reach;
    bool is_first, is_last;  // reads the inputs, writes y
    States from, to;         // [batch, length, channels] a plane
    LaunchInfo info;
};
std::vector<Doubling> doubling_steps(PlanBuilder& builder, const Job& job);

// blelloch: totals of height - 1 are joined to those of `height`, or the prefixes of `height` handed down.
// Nodes of height h stand for 2^h positions each; height 0 is the inputs, or y, and the root is not stored.
struct Sweep {
    bool is_up, is_leaf, is_root;
    int64_t height, parents, children;  // nodes of a sequence
    States of_parents, of_children;     // [batch, nodes, channels] a plane; none of the root and the leaves
    LaunchInfo info;
};
std::vector<Sweep> sweep_steps(PlanBuilder& builder, const Job& job);

// three_phase: blocks, their totals, the sum of both.
struct Phases {
    States local;   // [batch, length, channels] in the order of positions; y itself where a state is one f32
    States totals;  // [batch, blocks, channels] in the order of the scan, then what stands before every block
    LaunchInfo block_scan, block_sums, add_prefixes;
};
Phases three_phases(PlanBuilder& builder, const Job& job);

LaunchInfo describe_shift_gates(const Job& forward);
LaunchInfo describe_gate_gradient(const Job& forward, const GateGradients& gradients);

// One file each for how a launch is done: cpu.cpp, cuda.cpp.
void add_sequential(cpu::PlanBuilder& builder, const Job& job);
void add_hillis_steele(cpu::PlanBuilder& builder, const Job& job);
void add_blelloch(cpu::PlanBuilder& builder, const Job& job);
void add_three_phase(cpu::PlanBuilder& builder, const Job& job);
void add_lookback(cpu::PlanBuilder& builder, const Job& job);
void add_shift_gates(cpu::PlanBuilder& builder, const Job& forward, const GateGradients& gradients);
void add_gate_gradient(cpu::PlanBuilder& builder, const Job& forward, const GateGradients& gradients);

void add_sequential(cuda::PlanBuilder& builder, const Job& job);
void add_hillis_steele(cuda::PlanBuilder& builder, const Job& job);
void add_blelloch(cuda::PlanBuilder& builder, const Job& job);
void add_three_phase(cuda::PlanBuilder& builder, const Job& job);
void add_lookback(cuda::PlanBuilder& builder, const Job& job);
void add_shift_gates(cuda::PlanBuilder& builder, const Job& forward, const GateGradients& gradients);
void add_gate_gradient(cuda::PlanBuilder& builder, const Job& forward, const GateGradients& gradients);

}  // namespace sawtooth::scan

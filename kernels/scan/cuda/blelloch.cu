// y_t = x_0 o x_1 o … o x_t along L of [B, L, D] over a binary tree (Blelloch 1990): totals go up the tree,
// prefixes come down, one launch per level, about 2 N combines in 2 log2 L steps. A node of height h covers
// 2^h positions. A last node without a right child takes the total of its left one, so L is not limited to
// powers of 2.
//
//   up     height 2              10              down   height 2           start
//          height 1       3              7              height 1    start         start o 3
//          x          1       2      3       4          y         1      3       6        10
//
// Heights 1 … levels - 1 of the tree are stored, [B, nodes, D] each: first the totals, which the way down
// replaces by prefixes. The leaves are the inputs; the root is not stored. A thread block processes
// BLOCK_SIZE parents of LANES channels (strips.cuh).
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED, THREADS.

#include "kernels/scan/cuda/access.cuh"
#include "kernels/scan/cuda/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;

struct Leaves {
    const Given<TreeSweep>& given;

    __device__ Geometry<FLIPPED> geometry() const { return {given.length, given.channels}; }
    __device__ int64_t count() const { return given.length; }
    __device__ State get(int64_t batch, int64_t node, int64_t column) const {
        OP::Input in[1];
        load_planes<device::X>(given.in, geometry().at(batch, node, column), in);
        return OP::lift(in[0]);
    }
    __device__ void finish(int64_t batch, int64_t node, int64_t column, State state) const {
        store_y<device::Y>(given.y, geometry().at(batch, node, column), {OP::finish(state)});
    }
};

// One level of the tree, [batch, nodes, channels].
struct Nodes {
    const Planes& states;
    int64_t nodes, channels;

    __device__ int64_t count() const { return nodes; }
    __device__ int64_t at(int64_t batch, int64_t node, int64_t column) const {
        return (batch * nodes + node) * channels + column;
    }
    __device__ State get(int64_t batch, int64_t node, int64_t column) const {
        State state[1];
        load_states(states, at(batch, node, column), state);
        return state[0];
    }
    __device__ void put(int64_t batch, int64_t node, int64_t column, State state) const {
        store_states(states, at(batch, node, column), {state});
    }
};
__device__ Nodes parents_of(const Given<TreeSweep>& given) {
    return {given.parents, given.parent_count, given.channels};
}
__device__ Nodes children_of(const Given<TreeSweep>& given) {
    return {given.children, given.child_count, given.channels};
}

template <class Children>
__device__ void up(const Children& children, const Nodes& parents) {
    for_each_position<BLOCK_SIZE, LANES>(
        parents.nodes, parents.channels,
        [&](int64_t batch, int64_t node, int64_t column) {
            const State left = children.get(batch, 2 * node, column);
            if (2 * node + 1 == children.count()) return left;
            return OP::join(left, children.get(batch, 2 * node + 1, column));
        },
        [&](int64_t batch, int64_t node, int64_t column, State total) {
            parents.put(batch, node, column, total);
        });
}

// Grid: B * ceil(parents / BLOCK_SIZE), ceil(D / LANES). A thread owns the parents that strips.cuh assigns
// and their children.
extern "C" __global__ void __launch_bounds__(THREADS) up_sweep_leaves(Given<TreeSweep> given) {
    up(Leaves{given}, parents_of(given));
}

// Grid: B * ceil(parents / BLOCK_SIZE), ceil(D / LANES). A thread owns the parents that strips.cuh assigns
// and their children.
extern "C" __global__ void __launch_bounds__(THREADS) up_sweep(Given<TreeSweep> given) {
    up(children_of(given), parents_of(given));
}

// The prefix of a parent. The root has no stored state: its prefix is the start of the sequence.
__device__ State before_parent(const Given<TreeSweep>& given, int64_t batch, int64_t node, int64_t column) {
    return given.parents.plane[0] ? parents_of(given).get(batch, node, column)
                                  : start_state<OP>(given.initial, batch * given.channels + column);
}

// Two neighbouring nodes of one level.
struct Pair {
    State left, right;
};

// Grid: B * ceil(parents / BLOCK_SIZE), ceil(D / LANES). A thread owns the parents that strips.cuh assigns
// and their children.
extern "C" __global__ void __launch_bounds__(THREADS) down_sweep(Given<TreeSweep> given) {
    const Nodes children = children_of(given);
    for_each_position<BLOCK_SIZE, LANES>(
        given.parent_count, given.channels,
        [&](int64_t batch, int64_t node, int64_t column) -> Pair {
            const State before = before_parent(given, batch, node, column);
            return {before, OP::join(before, children.get(batch, 2 * node, column))};
        },
        [&](int64_t batch, int64_t node, int64_t column, Pair before) {
            children.put(batch, 2 * node, column, before.left);
            if (2 * node + 1 < children.count()) children.put(batch, 2 * node + 1, column, before.right);
        });
}

// The last sweep writes y. The y of a left leaf is also the prefix of its right neighbour.
// Grid: B * ceil(parents / BLOCK_SIZE), ceil(D / LANES). A thread owns the parents that strips.cuh assigns
// and their children.
extern "C" __global__ void __launch_bounds__(THREADS) down_sweep_leaves(Given<TreeSweep> given) {
    const Leaves leaves{given};
    for_each_position<BLOCK_SIZE, LANES>(
        given.parent_count, given.channels,
        [&](int64_t batch, int64_t node, int64_t column) -> Pair {
            const State left =
                OP::join(before_parent(given, batch, node, column), leaves.get(batch, 2 * node, column));
            if (2 * node + 1 == leaves.count()) return {left, left};
            return {left, OP::join(left, leaves.get(batch, 2 * node + 1, column))};
        },
        [&](int64_t batch, int64_t node, int64_t column, Pair states) {
            leaves.finish(batch, 2 * node, column, states.left);
            if (2 * node + 1 < leaves.count()) leaves.finish(batch, 2 * node + 1, column, states.right);
        });
}

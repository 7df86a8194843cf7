// y_t = x_0 o x_1 o … o x_t along L of [B, L, D] over a binary tree (Blelloch 1990): totals go up it,
// prefixes come down, a launch a level, about 2 N combines in 2 log2 L steps. Nodes of height h stand for 2^h
// positions each; a last node without a right child takes its left one's total, so L need be no power of two.
//
//   up     height 2              10              down   height 2           start
//          height 1       3              7              height 1    start         start o 3
//          x          1       2      3       4          y         1      3       6        10
//
// The tree of heights 1 … levels - 1 lies in memory, [B, nodes, D] a height: totals, which the way down
// turns into what stands before the node. The leaves are the inputs; the root is not stored. A thread block
// does BLOCK_SIZE parents of LANES channels (strips.cuh).
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED.

#include "kernels/scan/access.cuh"
#include "kernels/scan/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;

struct Leaves {
    const void *input_0, *input_1;
    Geometry<FLIPPED> geometry;

    __device__ int64_t count() const { return geometry.length; }
    __device__ State get(int64_t batch, int64_t node, int64_t column) const {
        OP::Input in[1];
        load_planes<device::X>(input_0, input_1, geometry.at(batch, node, column), in);
        return OP::lift(in[0]);
    }
};

struct Nodes {
    float *plane_0, *plane_1;
    int64_t nodes, channels;

    __device__ int64_t count() const { return nodes; }
    __device__ int64_t at(int64_t batch, int64_t node, int64_t column) const {
        return (batch * nodes + node) * channels + column;
    }
    __device__ State get(int64_t batch, int64_t node, int64_t column) const {
        State state[1];
        load_planes<device::f32>(plane_0, plane_1, at(batch, node, column), state);
        return state[0];
    }
    __device__ void put(int64_t batch, int64_t node, int64_t column, State state) const {
        store_planes(plane_0, plane_1, at(batch, node, column), {state});
    }
};

template <class Children>
__device__ void up(Children children, Nodes parents) {
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

extern "C" __global__ void __launch_bounds__(strip_threads)
    up_sweep_leaves(const void* input_0, const void* input_1, float* parents_0, float* parents_1,
                    int64_t length, int64_t parents, int64_t channels) {
    up(Leaves{input_0, input_1, {length, channels}}, {parents_0, parents_1, parents, channels});
}

extern "C" __global__ void __launch_bounds__(strip_threads)
    up_sweep(float* children_0, float* children_1, float* parents_0, float* parents_1, int64_t children,
             int64_t parents, int64_t channels) {
    up(Nodes{children_0, children_1, children, channels}, {parents_0, parents_1, parents, channels});
}

// What stands before a parent; the root (plane_0 == nullptr) starts the sequence.
__device__ State before_parent(Nodes parents, const float* initial, int64_t batch, int64_t node,
                               int64_t column) {
    return parents.plane_0 ? parents.get(batch, node, column)
                           : start_state<OP>(initial, batch * parents.channels + column);
}

// Two neighbours of one height.
struct Pair {
    State left, right;
};

extern "C" __global__ void __launch_bounds__(strip_threads)
    down_sweep(float* parents_0, float* parents_1, float* children_0, float* children_1, const float* initial,
               int64_t children_count, int64_t parents_count, int64_t channels) {
    const Nodes parents{parents_0, parents_1, parents_count, channels};
    const Nodes children{children_0, children_1, children_count, channels};
    for_each_position<BLOCK_SIZE, LANES>(
        parents_count, channels,
        [&](int64_t batch, int64_t node, int64_t column) -> Pair {
            const State before = before_parent(parents, initial, batch, node, column);
            return {before, OP::join(before, children.get(batch, 2 * node, column))};
        },
        [&](int64_t batch, int64_t node, int64_t column, Pair before) {
            children.put(batch, 2 * node, column, before.left);
            if (2 * node + 1 < children_count) children.put(batch, 2 * node + 1, column, before.right);
        });
}

// The last level writes y: that of a left leaf is also what stands before its right neighbour.
extern "C" __global__ void __launch_bounds__(strip_threads)
    down_sweep_leaves(float* parents_0, float* parents_1, const void* input_0, const void* input_1, void* y,
                      const float* initial, int64_t length, int64_t parents_count, int64_t channels) {
    const Nodes parents{parents_0, parents_1, parents_count, channels};
    const Geometry<FLIPPED> geometry{length, channels};
    const Leaves leaves{input_0, input_1, geometry};
    for_each_position<BLOCK_SIZE, LANES>(
        parents_count, channels,
        [&](int64_t batch, int64_t node, int64_t column) -> Pair {
            const State left = OP::join(before_parent(parents, initial, batch, node, column),
                                        leaves.get(batch, 2 * node, column));
            if (2 * node + 1 == length) return {left, left};
            return {left, OP::join(left, leaves.get(batch, 2 * node + 1, column))};
        },
        [&](int64_t batch, int64_t node, int64_t column, Pair states) {
            const auto put = [&](int64_t step, State state) {
                device::store<device::Y>(y, geometry.at(batch, step, column), {OP::finish(state)});
            };
            put(2 * node, states.left);
            if (2 * node + 1 < length) put(2 * node + 1, states.right);
        });
}

// propagate_through_detectors_for_sequence: propagates the sums of a pair's neurons to two inputs and a
// positional value.
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), INTEGER (lut_table/cuda/sums.cuh), TILE,
// THREADS.

#include "kernels/lut_sequence/cuda/hash.cuh"
#include "kernels/lut_sequence/cuda/tiles.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;
// Grid: tiles * T, min(B, 65535). Thread block (x, y) has a tile of pairs and a detector (tiles.cuh), of the
// sequences y, y + gridDim.y, …; a thread owns a pair (i, j):
//   hash [B, width]             gives the sums of up to three neurons at position j (fill.cu)
//   dx [B S, inputs]            += (main - alternative) up'(delta) at the first input of the bit's pair, -=
//                               at the second; of position j if the bit is of the query, else of i
//   dpositional [S - 1, T, P]   += (main - positional alternative) up'(positional_delta) at the bit of PE
// No barrier is needed: threads communicate only by atomic additions.
extern "C" __global__ void __launch_bounds__(THREADS)
    propagate_through_detectors_for_sequence(Arguments given) {
    const TilePlace place(given);
    if (!place.is_pair) return;
    for (int64_t item = blockIdx.y; item < given.sequences; item += gridDim.y) {
        const Pair pair(given, item, place.i, place.j, place.detector);
        const Flips flips(given, pair);
        const int64_t main = pair.neuron(given), alternative = flips.alternative(main);
        const int64_t positional = flips.positional_alternative(main);
        if (alternative < 0 && positional < 0) continue;
        const HashTable table(given, item);
        const auto value = [&](int64_t neuron) {
            return value_of(table.find(neuron, place.j), given.scale, given.fault + fault_gradient_sums);
        };
        const Wide of_main = value(main);
        if (alternative >= 0) {
            const Sum du = term_of_du(of_main - value(alternative), flips.delta, given.eps, given.scale);
            const int32_t* const inputs = given.anchors + (place.detector * ANCHORS + flips.bit) * 2;
            Sum* const dx = static_cast<Sum*>(given.dx) + flips.at / given.detectors * given.inputs;
            add_to_pair(dx, inputs, du);
        }
        if (positional >= 0)
            add(static_cast<Sum*>(given.dpositional) + pair.distance * POSITIONAL + flips.positional_bit,
                term_of_du(of_main - value(positional), flips.positional_delta, given.eps, given.scale));
    }
}

// propagate_through_detectors_for_sequence: from the sums of a pair's neurons to two inputs and a positional
// value.
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), INTEGER (lut/cuda/sums.cuh), TILE, THREADS.

#include "kernels/lut_sequence/cuda/hash.cuh"
#include "kernels/lut_sequence/cuda/tiles.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;
using lut::Wide;

// Grid: tiles * T, B.
extern "C" __global__ void __launch_bounds__(THREADS)
    propagate_through_detectors_for_sequence(Arguments given) {
    const TilePlace place(given);
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        // All lanes search the hash table together, also those without a pair.
        const Pair pair(given, item, place.is_pair ? place.i : 0, place.is_pair ? place.j : 1,
                        place.detector);
        const Flips flips(given, pair);
        const int64_t neuron = pair.neuron(given);
        const int64_t alternative = place.is_pair ? flips.alternative(neuron) : -1;
        const int64_t positional = place.is_pair ? flips.positional_alternative(neuron) : -1;
        const HashTable table(given, item);
        int32_t* const fault = given.fault + lut::fault_gradient_sums;
        const auto value = [&](int64_t of) {
            return lut::value_of(table.find(of, place.j), given.scale, fault);
        };
        const Wide of_main = value(alternative >= 0 || positional >= 0 ? neuron : -1);
        const Wide g = of_main - value(alternative), positional_g = of_main - value(positional);
        if (alternative >= 0) {
            const Sum du = lut::term(g * lut::surrogate_derivative(flips.delta), given.scale);
            const int32_t* const inputs = given.anchors + (place.detector * ANCHORS + flips.bit) * 2;
            Sum* const dx = static_cast<Sum*>(given.dx) + flips.at / given.detectors * given.inputs;
            lut::add(dx + inputs[0], du);
            lut::add(dx + inputs[1], -du);
        }
        if (positional >= 0)
            lut::add(
                static_cast<Sum*>(given.dpositional) + pair.distance * POSITIONAL + flips.positional_bit,
                lut::term(positional_g * lut::surrogate_derivative(flips.positional_delta), given.scale));
    }
}

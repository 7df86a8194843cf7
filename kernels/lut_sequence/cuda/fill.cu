// fill_after_detectors_firing_stat: finds the neurons of every pair, as events or in the dense statistic.
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), TILE, BACKWARD, STATISTIC, THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_sequence/cuda/tiles.cuh"
#include "kernels/lut_table/cuda/events.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

// Grid: tiles * T, min(B, 65535). Thread block (x, y) has a tile of pairs and a detector (tiles.cuh), of the
// sequences y, y + gridDim.y, …; a thread owns a pair (i, j). With BACKWARD it finds up to three neurons, all
// of them at position j; sparse neurons without synapses are left out:
//   neurons     main     alternative              positional alternative
//   row         chosen   a bit of Q or K flips    a bit of PE flips         (pairs.cuh)
//   buffer      main     alternative              alternative
//   statistic   += 1     += share                 += share                  [B S, T rows], atomic
// Threads without a pair go on with neurons of -1, because append has barriers.
extern "C" __global__ void __launch_bounds__(THREADS) fill_after_detectors_firing_stat(Arguments given) {
    const TilePlace place(given);
    for (int64_t item = blockIdx.y; item < given.sequences; item += gridDim.y) {
        const int64_t position = item * given.length + place.j;
        int64_t neurons[3] = {-1, -1, -1};  // main, alternative, positional alternative
        if (place.is_pair) {
            const Pair pair(given, item, place.i, place.j, place.detector);
            neurons[0] = pair.neuron(given);
            if constexpr (BACKWARD) {
                const Flips flips(given, pair);
                neurons[1] = flips.alternative(neurons[0]);
                neurons[2] = flips.positional_alternative(neurons[0]);
            }
        }
#pragma unroll
        for (int kind = 0; kind < (BACKWARD ? 3 : 1); ++kind) {
            const int64_t neuron = neurons[kind];
            const bool fires = neuron >= 0 && has_synapses(given.table, neuron);
            if constexpr (STATISTIC) {
                if (fires)
                    device::atomic_add(given.statistic + position * given.detectors * given.rows + neuron,
                                       kind == 0 ? 1.0f : given.share);
            } else {
                const Event event[] = {
                    {static_cast<int32_t>(neuron), static_cast<int32_t>(position), kind == 0}};
                append(kind == 0 ? given.main : given.alternative, fires, event,
                       given.room + (kind == 0 ? room_events : room_alternative_events),
                       static_cast<int32_t>(item + 1));
            }
        }
    }
}

// Sorts the pairs of every detector by the row that they chose, with one thread block per detector.
//
// Defines: ANCHORS, POSITIONAL, SPARSE, ALIGNED (pairs.cuh), BITS (of a row), THREADS.

#include "kernels/lut_sequence/cuda/pairs.cuh"
#include "kernels/lut_table/cuda/sort.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

// Grid: T. Thread block t owns detector t; choices = B pairs. A pair is sequence * pairs + its number in the
// sequence (pairs.cuh). Example with one sequence of three positions:
//   pairs (i, j)                        (0, 1) (0, 2) (1, 2), which chose the rows 6, 2, 6
//   sorted_rows [T, choices], row t     2 6 6
//   sorted_items [T, choices], row t    2 1 2       position j of (0, 2), (0, 1), (1, 2)
// The barriers are those of the passes of the sort (lut_table/cuda/sort.cuh).
extern "C" __global__ void __launch_bounds__(THREADS) sort_by_neuron(Arguments given) {
    const int64_t detector = blockIdx.x, count = given.choices;
    int32_t* const rows = given.sorted_rows + detector * count;
    int32_t* const positions = given.sorted_items + detector * count;
    const auto row_of = [&](int64_t pair) {
        const int64_t item = pair / given.pairs, within = pair % given.pairs, j = row_of_triangle(within);
        return Pair(given, item, within - j * (j - 1) / 2, j, detector).row(given);
    };
    const int32_t* const sorted = sorted_numbers<BITS>(count, row_of, rows, positions);
    for (int64_t at = threadIdx.x; at < count; at += THREADS) {
        const int32_t pair = sorted[at];
        rows[at] = row_of(pair);
        positions[at] =
            static_cast<int32_t>(pair / given.pairs * given.length + row_of_triangle(pair % given.pairs));
    }
}

// Sorts the items of every detector by the row that they chose, with one thread block per detector.
//
// Defines: BITS (of a row), THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/sort.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

// Grid: T. Thread block t owns detector t; choices = B. Example with four items:
//   lookup_index [B, T], column t    3 1 3 0     of items 0 … 3
//   sorted_rows [T, B], row t        0 1 3 3
//   sorted_items [T, B], row t       3 1 0 2     items of one row stay in order
// The barriers are those of the passes of the sort (sort.cuh), which uses both rows as buffers. `sorted` is
// one of them; a thread reads an entry of it before it overwrites that entry.
extern "C" __global__ void __launch_bounds__(THREADS) sort_by_neuron(Arguments given) {
    const int64_t detector = blockIdx.x;
    const int32_t* const chosen = given.found.lookup_index + detector;
    int32_t* const rows = given.sorted_rows + detector * given.choices;
    int32_t* const items = given.sorted_items + detector * given.choices;
    const auto row_of = [&](int64_t item) { return chosen[item * given.detectors]; };
    const int32_t* const sorted = sorted_numbers<BITS>(given.choices, row_of, rows, items);
    for (int64_t i = threadIdx.x; i < given.choices; i += THREADS) {
        const int32_t item = sorted[i];
        rows[i] = row_of(item);
        items[i] = item;
    }
}

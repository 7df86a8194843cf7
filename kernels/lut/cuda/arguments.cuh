// Kernel arguments of the family lut, and those that lut_sequence shares. Sums are f32, or int64 with integer
// arithmetic (sums.cuh). Comments of lut call items B, detectors T and the pairs of a detector C. Each
// detector has a table of `rows` rows, 2^C in lut. A neuron is a row of any table:
//   neuron     0 … rows - 1   rows … 2 rows - 1   …   (T - 1) rows … T rows - 1
//   detector   0              1                       T - 1
#pragma once

#include "kernels/lut/records.cuh"

namespace sawtooth::lut {

// Full: weights are [neurons, outputs] and all else is null. Sparse: neuron n has the synapses offsets[n] …
// offsets[n + 1] - 1, each with a target (an output), a weight, and with metas a factor meta_rates[meta] of
// lr. Three neurons with 2, 0 and 3 synapses:
//   offsets [neurons + 1]          0       2  2          5
//   targets, weights, metas        7   0         3   3   1    [synapses]; a target may occur twice
struct Table {
    const float* weights;
    const int32_t *offsets, *targets, *metas;
    const float* meta_rates;
};

// What the detectors found, three arrays of the same shape, detectors last: the bits of the pairs, the
// difference of the smallest magnitude, and its bit, -1 if all pairs are skipped.
struct Found {
    int32_t* lookup_index;
    float* min_delta;
    int32_t* min_delta_index;
};

// A buffer with room for `capacity` events; `count` counts all that were added, also those without room.
template <class Event>
struct Events {
    Event* events;
    int32_t* count;
    int64_t capacity;
};

// Arguments of kernels of both families. An item of lut_sequence is position j of sequence b, number b S + j.
struct CommonArguments {
    int64_t batch, inputs, outputs, detectors, rows;  // items; rows of the table of a detector
    int64_t output_blocks, group;                     // group: synapses
    const float* x;                                   // [batch, inputs]
    const int32_t* anchors;                           // [detectors, anchors, 2]
    Table table;
    Found found;                          // [batch, detectors]
    const float* dy;                      // [batch, outputs]; null without a backward pass
    void *y, *dx;                         // sums in the variant unfused, else outputs
    void* dweights;                       // likewise, in the shape of the weights
    float* weights_after;                 // null unless the weights are updated
    void* scratch;                        // rows of sums that do not fit into shared memory
    int64_t choices;                      // how often a detector chooses a neuron
    int32_t *sorted_rows, *sorted_items;  // [detectors, choices], by row
    double scale;                         // of a term before it becomes an integer
    double lr;
    int32_t *fault, *room;  // room: of buffers of events, and of the hash table
};

struct Arguments : CommonArguments {
    void* gradient_sums;  // [batch, 2, detectors]: of the chosen rows, then of the alternatives
    Events<Event> main, alternative;
};

// clear.cu
struct Clear {
    void* at;
    int64_t bytes;
};

// convert.cu. `before` and `after` are null unless the result is also subtracted from the weights.
struct Convert {
    const int64_t* sums;
    float* to;
    const float* before;
    float* after;
    int64_t count;
    double scale;
    int32_t* fault;
};

}  // namespace sawtooth::lut

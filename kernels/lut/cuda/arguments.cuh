// Kernel arguments of the family lut, and those that lut_sequence shares. Sums are f32, or int64 with integer
// arithmetic (sums.cuh).
#pragma once

#include "kernels/lut/records.cuh"

namespace sawtooth::lut {

// Full: weights are [neurons, outputs] and all else is null. Sparse: neuron n has the synapses offsets[n] …
// offsets[n + 1], each with a target (an output), a weight, and with metas a factor meta_rates[meta] of lr.
struct Table {
    const float* weights;
    const int32_t *offsets, *targets, *metas;
    const float* meta_rates;
};

// What the detectors found.
struct Found {
    int32_t* lookup_index;
    float* min_delta;
    int32_t* min_delta_index;
};

// A buffer with room for `capacity` events; `count` counts all that were added.
template <class Event>
struct Events {
    Event* events;
    int32_t* count;
    int64_t capacity;
};

// What kernels of both families take. An item is a position b S + j in lut_sequence.
struct CommonArguments {
    int64_t batch, inputs, outputs, detectors, rows;  // items; rows of the table of a detector
    int64_t output_blocks, group;                     // group: synapses
    const float* x;                                   // [batch, inputs]
    const int32_t* anchors;                           // [detectors, anchors, 2]
    Table table;
    Found found;                          // [batch, detectors]
    const float* dy;                      // [batch, outputs]; null without a backward pass
    void *y, *dx;                         // sums in the variant unfused, else outputs
    void* dweights;                       // likewise, as the weights
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

// convert.cu. `before` and `after` are null unless the result is also taken from weights.
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

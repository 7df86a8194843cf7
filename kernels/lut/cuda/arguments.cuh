// Kernel arguments of the family lut; the parts that lut_sequence shares are structs of their own. Sums are
// f32, or int64 with integer arithmetic (sums.cuh).
#pragma once

#include "kernels/cuda/device/types.cuh"

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

// An item chose a neuron.
struct Event {
    int32_t item, neuron;
};

// Places of overflows: SumArray of overflow.h.
enum Fault { fault_y, fault_gradient_sums, fault_dx, fault_dpositional, fault_dweights };

struct Arguments {
    int64_t batch, inputs, outputs, detectors, rows;  // rows of the table of a detector
    int64_t output_blocks, group;                     // group: synapses
    const float* x;                                   // [batch, inputs]
    const int32_t* anchors;                           // [detectors, anchors, 2]
    Table table;
    Found found;           // [batch, detectors]
    const float* dy;       // [batch, outputs]; null without a backward pass
    void *y, *dx;          // sums in the variant unfused, else outputs
    void* gradient_sums;   // [batch, 2, detectors]: of the chosen rows, then of the alternatives
    void* dweights;        // as the weights
    float* weights_after;  // null unless the weights are updated
    Events<Event> main, alternative;
    void* rows_scratch;  // [batch, outputs or inputs] sums, where a row does not fit into shared memory
    int32_t *sorted_rows, *sorted_items;  // [detectors, batch]
    double scale;                         // of a term before it becomes an integer
    double lr;
    int32_t *fault, *room;  // room: a fault of a buffer of events
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

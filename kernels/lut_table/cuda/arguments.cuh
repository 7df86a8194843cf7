// Kernel arguments that lut and lut_sequence share. Sums are f32, or int64 with integer arithmetic
// (sums.cuh). In comments B is the number of items, T of detectors, C of pairs per detector. Each detector
// has a table of `rows` rows, 2^C in lut. A neuron is a row of any table:
//   neuron     0 … rows - 1   rows … 2 rows - 1   …   (T - 1) rows … T rows - 1
//   detector   0              1                       T - 1
#pragma once

#include "kernels/lut_table/records.cuh"

namespace sawtooth::lut_table {

// The arguments of kernels of both families. An item of lut_sequence is position j of sequence b; its number
// is b S + j.
struct CommonArguments {
    int64_t batch, inputs, outputs, detectors, rows;  // batch: items; rows: of one table
    int64_t output_blocks, group;                     // group: synapses
    const float* x;                                   // [batch, inputs]
    const int32_t* anchors;                           // [detectors, anchors, 2]
    Table table;
    Found found;           // [batch, detectors]
    const float* dy;       // [batch, outputs]; null without a backward pass
    void *y, *dx;          // sums in the variant unfused, otherwise outputs
    void* dweights;        // likewise, in the shape of the weights
    float* weights_after;  // null unless the weights are updated
    double scale;          // multiplies a term before it becomes an integer
    double lr;
    float eps;        // tolerance of comparisons
    int64_t choices;  // the number of times that a detector chooses a row
    int32_t* fault;
    int32_t* room = nullptr;  // faults: full event buffers and hash table
    void* scratch = nullptr;  // rows of sums that do not fit into shared memory
    int32_t *sorted_rows = nullptr, *sorted_items = nullptr;  // [detectors, choices], by row
};

// The arguments of clear.cu.
struct Clear {
    void* at;
    int64_t bytes;
};

// The arguments of normalise.cu.
struct Normalise {
    float* gradients;
    uint32_t* largest;  // the bits of the largest magnitude
    int64_t count;
};

// The arguments of limit_weights.cu.
struct Limit {
    float* weights;
    int64_t count;
    float least, most;
};

// The arguments of convert.cu. `before` and `after` are null unless the result is also subtracted from the
// weights.
struct Convert {
    const int64_t* sums;
    float* to;
    const float* before;
    float* after;
    int64_t count;
    double scale;
    int32_t* fault;
};

}  // namespace sawtooth::lut_table

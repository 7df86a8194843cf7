// Kernel arguments of the family lut_sequence. Positions are those of all items, b S + j. Sums are f32, or
// int64 with integer arithmetic (lut/cuda/sums.cuh).
#pragma once

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_sequence/records.cuh"

namespace sawtooth::lut_sequence {

// Places of faults without room (faults.h).
enum RoomFault { room_events, room_alternative_events, room_hash_table };

struct Arguments {
    int64_t batch, length, inputs, outputs, detectors, rows;
    int64_t positional_bits, pairs;  // pairs of an item
    int64_t output_blocks, group;
    const float* positional;  // [S-1, T, P]
    const int32_t* anchors;   // [T, C, 2]
    lut::Table table;
    lut::Found found;      // [positions, T]
    lut::Found distances;  // [S-1, T]
    const float* dy;       // [positions, O]; null without a backward pass
    void *y, *dx;          // sums in the variant unfused, else outputs
    void* dpositional;     // likewise
    void* dweights;        // likewise
    float* weights_after;  // null unless the weights are updated
    lut::Events<Event> main, alternative;
    float* statistic;    // [positions, T 2^(2C+P)]; null: events go to the buffers
    float share;         // of an alternative event in the statistic
    HashEntry* hash;     // [B, width]
    int32_t* hash_high;  // the high words of integer sums
    int64_t width;
    void *du, *positional_du;                 // [B, pairs, T]
    int32_t *sorted_rows, *sorted_positions;  // [T, B pairs]
    void* scratch;                            // rows of sums that do not fit into shared memory
    double scale, lr;
    int32_t *fault, *room;
};

}  // namespace sawtooth::lut_sequence

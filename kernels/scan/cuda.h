#pragma once

#include <string>

#include "kernels/cpu/row_scan.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::scan {

using cpu::Operator;

// A scan along the middle axis of [batch, length, channels], channels fastest, all in device memory. A
// complex channel is two of these. Step s of the scan is position s, or length - 1 - s where `flipped`.
struct DeviceJob {
    Operator op = Operator::sum;
    bool flipped = false;
    int64_t batch = 0, length = 0, channels = 0;
    int64_t block_size = 0;                                                          // steps a tile
    cuda::Storage storage = cuda::Storage::as_is, y_storage = cuda::Storage::as_is;  // of a and x; of y
    const void* a = nullptr;                                                         // gates of linear
    const void* x = nullptr;
    const float* initial = nullptr;  // [batch, channels], the state before step 0 of linear; null: 0
    bool has_initial = false;        // pointers are null where memory is only counted
    void* y = nullptr;
    std::string prefix;  // of the launches' names: "", "reverse_", "gradient_"
    std::string a_name = "a", x_name = "x", y_name = "y";
};

// The five variants. Each adds its launches, in order, and takes the memory it needs between them.
void add_sequential(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_hillis_steele(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_blelloch(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_three_phase(cuda::PlanBuilder& builder, const DeviceJob& job);
void add_lookback(cuda::PlanBuilder& builder, const DeviceJob& job);

// What the backward pass of linear does beside its scan. Gates moved to the step before theirs, in the
// storage of `forward.a`; da [batch, length, channels] and, where `dinitial` is not null, dinitial [batch,
// channels].
void* add_shifted_gates(cuda::PlanBuilder& builder, const DeviceJob& forward);
void add_gate_gradients(cuda::PlanBuilder& builder, const DeviceJob& forward, const float* g, float* da,
                        float* dinitial);

// How a thread block of the columns kernels (columns.cuh) covers a tile of block_size steps, D > 1.
struct ColumnTile {
    int64_t vector, units, warps;  // channels a lane, lanes side by side, warps stacked along the steps
    int64_t shared_rows;           // of a thread's rows, those that its registers do not hold
    int64_t shared_bytes;          // what they take
    int64_t min_blocks;            // that a multiprocessor shall hold at the least: it bounds the registers
    int64_t width() const { return vector * units; }
};
ColumnTile column_tile(const DeviceJob& job, const Chip& chip);

// The rows kernels (rows.cuh), D = 1. Rows walked by a warp each need no look-back; a stretch is what the
// warps of a thread block scan together.
int64_t row_vector(const DeviceJob& job);
bool walks_rows(const DeviceJob& job, const Chip& chip);
int64_t warps_of_stretch(const DeviceJob& job);

}  // namespace sawtooth::scan

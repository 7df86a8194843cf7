#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/core/buffer.h"
#include "kernels/core/integers.h"
#include "kernels/cpu/operators.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/cuda/plan_builder.h"
#include "kernels/scan/cuda/arguments.cuh"

namespace sawtooth::scan {

using cpu::Operator;

// A value of the parameter `op`.
struct Op {
    std::string name;
    Operator op;
    bool is_complex = false;
};
const std::vector<Op>& ops();
const Op& op_of(const Parameters& parameters);

// Whether columns side by side, of all sequences, keep a GPU's memory busy while tiles wait for their
// prefixes: then tiles may be short and a look back should cost little. With fewer, every step of a look back
// counts. Measured on an H200 with [4, L, D]: D = 512 has many, D = 64 few.
inline bool has_many_columns(int64_t batch, int64_t channels) { return batch * channels >= 1024; }
// ceil(log2(length)), the number of steps of a doubling scan and of levels of a tree.
int64_t levels_of(int64_t length);

// The number of columns side by side in a warp, in kernels of strips.cuh.
inline int64_t strip_lanes(int64_t channels) { return std::min<int64_t>(power_of_two_from(channels), 32); }
// The threads of a thread block of three_phase that scans totals of blocks on CUDA, and how many totals it
// scans at once (`tile` in three_phase.cu).
constexpr int64_t threads_of_totals = 512;
inline int64_t totals_at_once(int64_t channels) {
    constexpr int64_t rows = 8;  // per thread
    return rows * threads_of_totals / strip_lanes(channels);
}
// The warps of a chunk of lookback on CUDA in a single column, where all rows together have fewer tiles than
// this on every chip with 128 multiprocessors or more (row_chunk).
constexpr int64_t warps_of_short_rows = 8, tiles_of_long_rows = 768;

// One scan along the middle axis of arrays [batch, length, channels]. A complex channel counts as two, except
// in launches on CUDA of operators that pair columns: their threads own whole complex numbers.
struct Job {
    Operator op = Operator::sum;
    bool flipped = false;
    int64_t batch = 1, length = 1, channels = 1;
    int64_t block_size = 0;   // steps per tile
    Buffers in = {};          // one per plane: a and x of a recurrence, otherwise x
    Buffer initial = {};      // [batch, channels], the state of a recurrence before step 0; absent: 0
    Buffer y = {};            // in the storage of the inputs, or in f32
    std::string prefix = "";  // begins the names of launches: "", "reverse_", "gradient_", …

    Storage storage() const { return in.front().storage; }  // of the inputs
    int64_t elements() const { return batch * length * channels; }
    int64_t blocks() const { return ceil_divide(length, block_size); }
    // The blocks of block_size rows of all sequences, which have `rows` rows each, called `name` in formulas.
    Side blocks_of(const std::string& name, int64_t rows) const {
        return side("B", batch) * pieces(name, rows, "block_size", block_size);
    }
};

// The block size of "auto" for the operator and the sizes of a job: 256 for lengths up to 256, 512 up to 512,
// then 1024. On a GPU several columns have shorter tiles. Many: 512, or 256 if two planes are read, so that
// lookback keeps all rows of a tile in registers. Few: the least with at most 12 tiles, if there is one, so
// that enough of them run at once. Measured on an H200 with lengths of 768 to 65536.
int64_t automatic_block_size(const Job& job, Backend backend);
int64_t automatic_block_size(const Parameters& parameters, Backend backend);
int64_t block_size_of(const Parameters& parameters, Backend backend);

// The kinds of launches for which arguments.cuh has no struct of their own.
struct Sequential {};
struct BlockScan : Phases {};
struct BlockSums : Phases {};
struct AddPrefixes : Phases {};
struct Lookback {};

// One launch of a variant: launches.cpp describes it, cpu/plans.cpp and cuda/plans.cpp run it.
struct Stage {
    using What = std::variant<Sequential, Doubling, TreeSweep, BlockScan, BlockSums, AddPrefixes, Lookback,
                              ShiftGates, OutputGates, GateGradient, InputGradient>;
    Job job;
    LaunchInfo info;
    What what;
};
void launch(cpu::PlanBuilder& builder, const Stage& stage);
void launch(cuda::PlanBuilder& builder, const Stage& stage);

// The scan that a launch belongs to: "reverse_scan" for "reverse_double_16"; "" if it belongs to none.
std::string scan_of(const std::string& launch);

// Adds the launches of one scan by the variant of that name.
template <class Builder>
void launch_scan(Builder& builder, std::string_view variant, const Job& job);

// The number of blocks per look-back tile on the CPU. Scanning a block of one channel is faster than looking
// back for its prefix, so such a tile has at least 8192 steps.
inline int64_t blocks_a_lookback_tile(int64_t channels, int64_t block_size) {
    return channels == 1 ? std::max<int64_t>(8192 / block_size, 1) : 1;
}

}  // namespace sawtooth::scan

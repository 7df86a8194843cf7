#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/cpu/row_scan.h"
#include "kernels/scan/job.h"

namespace sawtooth::scan {

using cpu::Rows;
using cpu::States;

// Steps first … first + steps - 1 of one sequence's columns [column, column + columns).
struct Tile {
    int64_t batch = 0, first = 0, steps = 1, column = 0, columns = 0;
};

// Access to the steps of a tile in the job's arrays, for any direction and storage.
class Access {
  public:
    explicit Access(const Job& job) : job_(job) {}
    const Job& job() const { return job_; }

    // The input rows of the tile: in place for f32, otherwise widened into scratch.
    Rows input(const Tile& tile, std::vector<float>& scratch) const;
    // The output rows: in place for f32, otherwise scratch that `put_output` narrows.
    float* output(const Tile& tile, std::vector<float>& scratch, int64_t& stride) const;
    void put_output(const Tile& tile, const std::vector<float>& scratch) const;
    // Offset of the tile's first row in an array of the job's shape, and the stride to the next row.
    int64_t offset(const Tile& tile) const;
    int64_t stride() const { return job_.flipped ? -job_.channels : job_.channels; }

    // States of steps first, first + every, …: [count, channels] per plane, contiguous. `with_initial` joins
    // the state before step 0 of linear into step 0.
    void lift(int64_t batch, int64_t first, int64_t every, int64_t count, States to, bool with_initial) const;
    // Writes the finished values of such steps to y.
    void drop(int64_t batch, int64_t first, int64_t every, int64_t count, const float* values) const;

    // The state before step 0 for columns of one sequence.
    void start(int64_t batch, int64_t column, int64_t columns, States states) const;

  private:
    const Job& job_;
};

// The plain chain: one combine after another down every column, for any number of channels.
void chain_tile(const Access& access, const Tile& tile, States carry, bool stream);

// Fold and scan of a tile. Tiles of 2 to 15 channels are cut into segments that lie side by side as columns,
// so that vectors are full. Both functions join the segments' totals in order, so they get the same total.
void fold_tile(const Access& access, const Tile& tile, States total);
void scan_tile(const Access& access, const Tile& tile, States carry, bool stream);
void scan_and_fold_tile(const Access& access, const Tile& tile, States carry, States total, bool stream);
// Writes the state after every step, from the identity, to `local`, of the job's shape; `total` is the last.
void scan_tile_states(const Access& access, const Tile& tile, States total, States local, bool stream);

// Strips of columns, so narrow that a tile of `steps` stays in the L2 cache. Few channels are one strip.
struct Strips {
    int64_t width = 0, count = 0;
};
Strips strips_of(const Job& job, int64_t steps);

}  // namespace sawtooth::scan

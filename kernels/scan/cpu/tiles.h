#pragma once

#include <cstdint>

#include "kernels/core/launch.h"
#include "kernels/cpu/row_scan.h"
#include "kernels/cpu/scratch.h"
#include "kernels/scan/job.h"

namespace sawtooth::scan {

using cpu::Rows;
using cpu::States;

// Steps first … first + steps - 1 of columns [column, column + columns) of one sequence.
struct Tile {
    int64_t batch = 0, first = 0, steps = 1, column = 0, columns = 0;
};

// Access to the steps of a tile in the job's arrays, for any direction and storage.
class Access {
  public:
    explicit Access(const Job& job) : job_(job) {}
    const Job& job() const { return job_; }

    // The input rows of the tile: in place for f32, otherwise widened into `room`.
    Rows input(const Tile& tile, float* room) const;
    // The output rows: in place for f32, otherwise those of `room`, which `put_output` narrows.
    float* output(const Tile& tile, float* room, int64_t& stride) const;
    void put_output(const Tile& tile, const float* room) const;
    // Offset of the tile's first row in an array of the job's shape, and the stride to the next row.
    int64_t offset(const Tile& tile) const;
    int64_t stride() const { return job_.flipped ? -job_.channels : job_.channels; }

    // Lifts the inputs of steps first, first + every, … to states, [count, channels] per plane, contiguous.
    // If `room` [channels] is given, the state of a recurrence before step 0 is made there and joined into
    // step 0.
    void lift(int64_t batch, int64_t first, int64_t every, int64_t count, States to, States room = {}) const;
    // Writes the finished values of such steps to y.
    void drop(int64_t batch, int64_t first, int64_t every, int64_t count, const float* values) const;

    // Makes the states before step 0 for columns of one sequence.
    void start(int64_t batch, int64_t column, int64_t columns, States states) const;

  private:
    const Job& job_;
};

// Takes `count` states in the scratch of an item.
States take_states(cpu::Scratch& scratch, Operator op, int64_t count);

// The rows of a tile in f32, where the job stores them in less; otherwise null.
struct RowRooms {
    float *input = nullptr, *output = nullptr;

    RowRooms(cpu::Scratch& scratch, const Job& job, int64_t steps, int64_t columns);
};

// The scratch to fold and scan tiles of at most `steps` steps and `columns` columns.
struct TileRooms {
    RowRooms rows;
    States packed = {}, packed_out = {};  // rows of chunks; null unless tiles are cut into chunks
    States totals = {}, states = {};      // the total of every chunk, and the state before it

    TileRooms(cpu::Scratch& scratch, const Job& job, int64_t steps, int64_t columns);
};

// Walks the plain chain, one combine after another down every column, for any number of channels.
void chain_tile(const Access& access, const Tile& tile, const RowRooms& rooms, States carry, bool stream);

// Fold and scan a tile. Tiles of 2 to 15 channels are cut into chunks that lie side by side as columns, so
// that vectors are full. All functions join the chunks' totals in order, so they get the same total.
// `total` must hold the identity before `fold_tile` and `scan_and_fold_tile`. `scan_tile` and
// `scan_and_fold_tile` advance `carry`: pass a copy in scratch if it is stored.
void fold_tile(const Access& access, const Tile& tile, const TileRooms& rooms, States total);
void scan_tile(const Access& access, const Tile& tile, const TileRooms& rooms, States carry, bool stream);
void scan_and_fold_tile(const Access& access, const Tile& tile, const TileRooms& rooms, States carry,
                        States total, bool stream);
// Writes the state after every step, starting from the identity, to `local`, which has the job's shape;
// `total` becomes the last one.
void scan_tile_states(const Access& access, const Tile& tile, const TileRooms& rooms, States total,
                      States local, bool stream);

// Strips of columns, so narrow that a tile of `steps` steps stays in the L2 cache. Few channels make one
// strip.
struct Strips {
    int64_t width = 0, count = 0;
};
Strips strips_of(const Job& job, int64_t steps);

}  // namespace sawtooth::scan

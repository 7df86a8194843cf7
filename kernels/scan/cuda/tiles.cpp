#include "kernels/scan/cuda/tiles.h"

#include <algorithm>

namespace sawtooth::scan {

// Tuned on an H100 and an H200 with [4, 8192, 512] and [4, 2048, 512]: tile rows under 128 bytes lose half of
// the bandwidth, and few warps with many rows each beat many with few, even if half of the rows lie in shared
// memory. With many columns rows in registers are faster where at most eight warps can hold them all; with
// few, such as [4, 65536, 8], that was slower.
ColumnTile column_tile(const Job& job, const Chip& chip) {
    constexpr int64_t row_bytes = 128, sector_bytes = 32;
    constexpr int64_t kept_registers = 64, most_rows = 32, most_warps = 16, few_warps = 8;
    constexpr int64_t most_totals_bytes = 16 << 10;  // in shared memory too
    const int64_t parts = pairs_columns(job.op) ? 2 : 1;
    const int64_t planes = input_planes_of(job.op), word = parts * bytes_of(job.storage());
    const bool many_columns = has_many_columns(job.batch, job.channels);
    ColumnTile tile{};
    tile.vector = job.channels % 4 == 0 && parts == 1 ? 4 : job.channels % 2 == 0 ? 2 : 1;
    tile.units = std::min(
        {power_of_two_from(job.channels / tile.vector), row_bytes / (tile.vector * word), int64_t{32}});
    const int64_t row_registers = std::max<int64_t>(tile.vector * word / 4, 1);  // a plane
    const int64_t own_rows = std::min(kept_registers / row_registers / planes, most_rows);
    const int64_t more_rows = std::min(2 * own_rows, most_rows);  // those beyond own_rows in shared memory
    while (true) {
        const int64_t stacked = job.block_size * tile.units / 32;  // rows stacked over all warps
        const bool is_narrow = tile.width() * word < sector_bytes;
        const bool has_more =
            many_columns ? stacked > few_warps * own_rows : planes == 2 || job.block_size == 1024;
        tile.warps = is_narrow
                         ? std::min(stacked, few_warps)
                         : std::clamp<int64_t>(stacked / (has_more ? more_rows : own_rows), 1, most_warps);
        tile.shared_rows = std::max<int64_t>(stacked / tile.warps - own_rows, 0);
        tile.shared_bytes = tile.shared_rows * planes * tile.vector * word * 32 * tile.warps;
        const bool fits = tile.shared_bytes + most_totals_bytes <= chip.shared_bytes_per_block;
        const bool copied = tile.vector * word >= 4;  // cp.async needs at least 4 bytes
        if (tile.shared_rows == 0 || (fits && copied)) break;
        tile.units /= 2;
    }
    tile.min_blocks = std::max<int64_t>(most_warps / tile.warps, 1);
    // A look at four tiles costs more than one at two. It pays with few columns, and where the thread blocks
    // of more than four tiles of every sequence all run at once.
    const int64_t blocks = job.batch * job.blocks() * ceil_divide(job.channels, tile.width());
    const bool all_run = blocks <= tile.min_blocks * chip.multiprocessors;
    tile.ahead = many_columns && !(all_run && job.blocks() > 4) ? 2 : 4;
    return tile;
}

// Tuned on an H100 with rows of 2^16 to 2^28. While chunks of a long row wait for their prefix, memory is
// busy only if many values are on the way: shared memory holds more than registers, and few warps leave room.
// States of two floats are faster in registers. Single words go to shared memory in rows of any length, as
// every one of them would take a register.
RowChunk row_chunk(const Job& job, const Chip& chip) {
    constexpr int64_t long_tiles = 3, long_warps = 4;
    RowChunk chunk{};
    chunk.vector = vector_of_row(job.length);
    const int64_t long_chunks = job.batch * job.blocks() / (long_tiles * long_warps);
    const bool is_single = chunk.vector == 1;
    const bool is_long = !is_single && planes_of(job.op) == 1 && 2 * long_chunks >= chip.multiprocessors;
    chunk.tiles = is_long ? long_tiles : 1;
    chunk.warps = is_long ? long_warps : std::min(power_of_two_from(job.blocks()), warps_of_short_rows);
    const int64_t steps = chunk.warps * chunk.tiles * job.block_size;
    if (is_long || is_single) chunk.shared_bytes = steps * input_planes_of(job.op) * bytes_of(job.storage());
    return chunk;
}

bool walks_rows(const Job& job, const Chip& chip) {
    // Enough warps to keep memory busy while each waits for its loads.
    constexpr int64_t warps_a_multiprocessor = 8;
    return job.length <= job.block_size || job.batch >= warps_a_multiprocessor * chip.multiprocessors;
}

}  // namespace sawtooth::scan

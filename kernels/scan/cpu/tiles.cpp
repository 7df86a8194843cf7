#include "kernels/scan/cpu/tiles.h"

#include <algorithm>

#include "kernels/cpu/half.h"

namespace sawtooth::scan {
namespace {

using cpu::Walk;

constexpr int64_t narrow_below = 16;  // tiles of 2 or more channels, but fewer than this, are cut into chunks
constexpr int64_t chunk_columns = 32;  // at most this many columns from all chunks together

// A tile of few channels, cut into chunks that lie side by side: row k holds step k of every chunk,
// [rows, chunks * channels].
struct Chunks {
    int64_t channels, count, rows, columns;

    Chunks(int64_t steps, int64_t tile_columns)
        : channels(tile_columns),
          count(chunk_columns / channels),
          rows(ceil_divide(steps, count)),
          columns(count * channels) {}
};

States take_planes(cpu::Scratch& scratch, int planes, int64_t count) {
    States states;
    for (int p = 0; p < planes; ++p) states.plane[p] = scratch.take<float>(count);
    return states;
}

// Copies `count` rows of `channels` values from one stride to another.
void copy_rows(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t count,
               int64_t channels) {
    for (int64_t k = 0; k < count; ++k)
        for (int64_t c = 0; c < channels; ++c) to[k * to_stride + c] = from[k * from_stride + c];
}

Rows pack(const Job& job, const Tile& tile, const Chunks& chunks, Rows in, States packed) {
    for (int plane = 0; plane < input_planes_of(job.op); ++plane) {
        for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
            const int64_t begin = chunk * chunks.rows;
            const int64_t there = std::clamp<int64_t>(tile.steps - begin, 0, chunks.rows);
            float* const to = packed.plane[plane] + chunk * chunks.channels;
            copy_rows(in.plane[plane] + begin * in.stride, in.stride, to, chunks.columns, there,
                      chunks.channels);
            for (int64_t k = there; k < chunks.rows; ++k)  // past the end: the identity as an input
                cpu::fill_identity(job.op, plane, to + k * chunks.columns, chunks.channels);
        }
    }
    return {{packed.plane[0], packed.plane[1]}, chunks.columns};
}

void unpack(const Tile& tile, const Chunks& chunks, const float* packed, float* to, int64_t stride) {
    for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
        const int64_t begin = chunk * chunks.rows;
        const int64_t there = std::clamp<int64_t>(tile.steps - begin, 0, chunks.rows);
        copy_rows(packed + chunk * chunks.channels, chunks.columns, to + begin * stride, stride, there,
                  chunks.channels);
    }
}

void fold_chunks(Operator op, const Chunks& chunks, Rows packed, States totals) {
    fill_identity(op, totals, chunks.columns);
    cpu::fold_rows({.op = op, .in = packed, .rows = chunks.rows, .columns = chunks.columns, .total = totals});
}

bool is_narrow(const Job& job) { return job.channels > 1 && job.channels < narrow_below; }

// A narrow tile whose rooms hold the states before every chunk.
struct Prepared {
    Chunks chunks;
    Rows packed;
};
// Packs a narrow tile and folds its chunks. Advances `carry` and `total` by the tile, if they are given.
Prepared prepare_chunks(const Access& access, const Tile& tile, const TileRooms& rooms, States carry,
                        States total) {
    const Operator op = access.job().op;
    const Chunks chunks(tile.steps, tile.columns);
    const Rows packed = pack(access.job(), tile, chunks, access.input(tile, rooms.rows.input), rooms.packed);
    fold_chunks(op, chunks, packed, rooms.totals);
    if (total.plane[0]) spread(op, rooms.totals, chunks.count, chunks.channels, total, rooms.states);
    if (carry.plane[0]) spread(op, rooms.totals, chunks.count, chunks.channels, carry, rooms.states);
    return {chunks, packed};
}

void scan_narrow(const Access& access, const Tile& tile, const TileRooms& rooms, States carry, States total) {
    const Prepared ready = prepare_chunks(access, tile, rooms, carry, total);
    float* const out = rooms.packed_out.plane[0];
    cpu::scan_rows({.op = access.job().op,
                    .in = ready.packed,
                    .rows = ready.chunks.rows,
                    .columns = ready.chunks.columns,
                    .carry = rooms.states,
                    .out = out,
                    .out_stride = ready.chunks.columns});
    int64_t stride = 0;
    float* const to = access.output(tile, rooms.rows.output, stride);
    unpack(tile, ready.chunks, out, to, stride);
    access.put_output(tile, rooms.rows.output);
}

// Rows are walked in groups, so that a group of few columns finds its cache lines still in the cache. A
// single column is walked in one go.
constexpr int64_t rows_a_group = 4;

template <class Step>
void walk_wide(const Access& access, const Tile& tile, const RowRooms& rooms, Walk walk, Step&& step) {
    const Rows in = access.input(tile, rooms.input);
    walk.op = access.job().op;
    walk.columns = tile.columns;
    // This is decided per job, not per tile: a strip of one column may be stored differently in each of its
    // walks.
    walk.is_line = access.job().channels == 1;
    const int64_t group_rows = walk.is_line ? tile.steps : rows_a_group;
    for (int64_t row = 0; row < tile.steps; row += group_rows) {
        Walk group = walk;
        group.rows = std::min(group_rows, tile.steps - row);
        group.in = {{in.plane[0] + row * in.stride, in.plane[1] ? in.plane[1] + row * in.stride : nullptr},
                    in.stride};
        if (walk.out) group.out = walk.out + row * walk.out_stride;
        for (float*& plane : group.states_out.plane)
            if (plane) plane += row * walk.states_out.stride;
        step(group);
    }
}

template <class Step>
void scan_wide(const Access& access, const Tile& tile, const RowRooms& rooms, States carry, States total,
               bool stream, Step&& step) {
    Walk walk{.carry = carry, .total = total};
    walk.out = access.output(tile, rooms.output, walk.out_stride);
    walk.stream = stream && access.job().y.storage == Storage::f32;
    walk_wide(access, tile, rooms, walk, step);
    access.put_output(tile, rooms.output);
}

// A tile in scratch keeps its rows in memory order without gaps. These are the offset of its first step, and
// the stride to the next step.
int64_t room_begin(const Job& job, const Tile& tile) {
    return job.flipped ? (tile.steps - 1) * tile.columns : 0;
}
int64_t room_stride(const Job& job, const Tile& tile) { return job.flipped ? -tile.columns : tile.columns; }

// Calls copy(offset in the job's arrays, offset in scratch, values) for every run that is contiguous in both:
// the whole tile if it has every channel, otherwise each row.
template <class Copy>
void each_run(const Access& access, const Tile& tile, Copy&& copy) {
    const int64_t channels = access.job().channels;
    const int64_t begin = access.offset(tile) - (access.job().flipped ? (tile.steps - 1) * channels : 0);
    if (tile.columns == channels) return copy(begin, 0, tile.steps * channels);
    for (int64_t row = 0; row < tile.steps; ++row)
        copy(begin + row * channels, row * tile.columns, tile.columns);
}

}  // namespace

int64_t Access::offset(const Tile& tile) const {
    const int64_t position = job_.flipped ? job_.length - 1 - tile.first : tile.first;
    return (tile.batch * job_.length + position) * job_.channels + tile.column;
}

Rows Access::input(const Tile& tile, float* room) const {
    Rows rows;
    const int64_t at = offset(tile);
    if (job_.storage() == Storage::f32) {
        for (size_t plane = 0; plane < job_.in.size(); ++plane)
            rows.plane[plane] = job_.in[plane].as<float>() + at;
        rows.stride = stride();
        return rows;
    }
    rows.stride = room_stride(job_, tile);
    for (size_t plane = 0; plane < job_.in.size(); ++plane, room += tile.steps * tile.columns) {
        rows.plane[plane] = room + room_begin(job_, tile);
        each_run(*this, tile, [&](int64_t begin, int64_t in_room, int64_t size) {
            cpu::read(job_.in[plane], begin, size, room + in_room);
        });
    }
    return rows;
}

float* Access::output(const Tile& tile, float* room, int64_t& out_stride) const {
    if (job_.y.storage == Storage::f32) {
        out_stride = stride();
        return job_.y.as<float>() + offset(tile);
    }
    out_stride = room_stride(job_, tile);
    return room + room_begin(job_, tile);
}

void Access::put_output(const Tile& tile, const float* room) const {
    if (job_.y.storage == Storage::f32) return;
    each_run(*this, tile, [&](int64_t begin, int64_t in_room, int64_t size) {
        cpu::write(room + in_room, size, job_.y, begin);
    });
}

void Access::lift(int64_t batch, int64_t first, int64_t every, int64_t count, States to, States room) const {
    const int64_t channels = job_.channels;
    for (size_t p = 0; p < job_.in.size(); ++p)
        for (int64_t k = 0; k < count; ++k)
            cpu::read(job_.in[p], offset({.batch = batch, .first = first + k * every}), channels,
                      to.plane[p] + k * channels);
    if (planes_of(job_.op) > input_planes_of(job_.op))
        std::fill_n(to.plane[1], count * channels, cpu::second_of_input(job_.op));
    if (!room.plane[0] || first != 0 || input_planes_of(job_.op) == 1) return;
    start(batch, 0, channels, room);
    combine(job_.op, room, to, to, channels);
}

void Access::drop(int64_t batch, int64_t first, int64_t every, int64_t count, const float* values) const {
    for (int64_t k = 0; k < count; ++k)
        cpu::write(values + k * job_.channels, job_.channels, job_.y,
                   offset({.batch = batch, .first = first + k * every}));
}

void Access::start(int64_t batch, int64_t column, int64_t columns, States states) const {
    fill_identity(job_.op, states, columns);
    if (job_.initial)
        std::copy_n(job_.initial.as<float>() + batch * job_.channels + column, columns, states.plane[1]);
}

States take_states(cpu::Scratch& scratch, Operator op, int64_t count) {
    return take_planes(scratch, planes_of(op), count);
}

RowRooms::RowRooms(cpu::Scratch& scratch, const Job& job, int64_t steps, int64_t columns) {
    const int64_t count = steps * columns;
    if (job.storage() != Storage::f32) input = scratch.take<float>(input_planes_of(job.op) * count);
    if (job.y.storage != Storage::f32) output = scratch.take<float>(count);
}

TileRooms::TileRooms(cpu::Scratch& scratch, const Job& job, int64_t steps, int64_t columns)
    : rows(scratch, job, steps, columns) {
    if (!is_narrow(job)) return;
    const Chunks chunks(steps, columns);
    const int64_t count = chunks.rows * chunks.columns;
    packed = take_planes(scratch, input_planes_of(job.op), count);
    packed_out = take_states(scratch, job.op, count);
    totals = take_states(scratch, job.op, chunks.columns);
    states = take_states(scratch, job.op, chunks.columns);
}

void chain_tile(const Access& access, const Tile& tile, const RowRooms& rooms, States carry, bool stream) {
    scan_wide(access, tile, rooms, carry, {}, stream, cpu::chain_rows);
}

void fold_tile(const Access& access, const Tile& tile, const TileRooms& rooms, States total) {
    if (is_narrow(access.job())) {
        prepare_chunks(access, tile, rooms, {}, total);
        return;
    }
    walk_wide(access, tile, rooms.rows, {.total = total}, cpu::fold_rows);
}

void scan_tile(const Access& access, const Tile& tile, const TileRooms& rooms, States carry, bool stream) {
    scan_and_fold_tile(access, tile, rooms, carry, {}, stream);
}

void scan_and_fold_tile(const Access& access, const Tile& tile, const TileRooms& rooms, States carry,
                        States total, bool stream) {
    if (is_narrow(access.job()))
        scan_narrow(access, tile, rooms, carry, total);
    else
        scan_wide(access, tile, rooms.rows, carry, total, stream,
                  total.plane[0] ? cpu::scan_and_fold_rows : cpu::scan_rows);
}

void scan_tile_states(const Access& access, const Tile& tile, const TileRooms& rooms, States total,
                      States local, bool stream) {
    const Operator op = access.job().op;
    fill_identity(op, total, tile.columns);
    const int64_t at = access.offset(tile);
    if (!is_narrow(access.job())) {
        Walk walk{.carry = total, .stream = stream};
        for (int plane = 0; plane < planes_of(op); ++plane)
            walk.states_out.plane[plane] = local.plane[plane] + at;
        walk.states_out.stride = access.stride();
        walk_wide(access, tile, rooms.rows, walk, cpu::scan_states);
        return;
    }
    const Prepared ready = prepare_chunks(access, tile, rooms, total, {});
    const States out = rooms.packed_out;
    cpu::scan_states({.op = op,
                      .in = ready.packed,
                      .rows = ready.chunks.rows,
                      .columns = ready.chunks.columns,
                      .carry = rooms.states,
                      .states_out = {{out.plane[0], out.plane[1]}, ready.chunks.columns}});
    for (int plane = 0; plane < planes_of(op); ++plane)
        unpack(tile, ready.chunks, out.plane[plane], local.plane[plane] + at, access.stride());
}

Strips strips_of(const Job& job, int64_t steps) {
    constexpr int64_t tile_floats = 512 * 1024;
    if (is_narrow(job)) return {job.channels, 1};
    const int64_t fitting = std::max<int64_t>(tile_floats / steps / 16 * 16, 16);
    const int64_t width = std::min(job.channels, fitting);
    return {width, ceil_divide(job.channels, width)};
}

}  // namespace sawtooth::scan

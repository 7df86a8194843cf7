// Lattice: tokens update slots s_i, which are unit vectors after every token.
//   token by token   g = sigmoid(s . k), c = s . v, s = normalise((1 - g c) s + g v)
//   in chunks, with g and c of a whole chunk against the slots s at its boundary, in matrix products:
//     chunkwise_gd   x_t = x_(t-1) + g (v - c s), s_t = normalise(x_t)
//     lattice_gla    x_t = (1 - g c) x_(t-1) + g v, s_t = normalise(x_t)
// An item of the walk is a slot: sequence * slot_count + slot.

#include <algorithm>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/job.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

// The scratch to walk token by token over blocks of at most `tokens` tokens.
struct LatticeRooms {
    float *k, *v, *q;
    float *gates, *scores, *y;  // numbers of one token

    LatticeRooms(cpu::Scratch& scratch, const CpuJob& job, int64_t tokens)
        : k(scratch.take<float>(tokens * padded(job.d))),
          v(scratch.take<float>(tokens * padded(job.d))),
          q(scratch.take<float>(tokens * padded(job.d))),
          gates(scratch.take<float>(padded(job.slot_count))),
          scores(scratch.take<float>(padded(job.slot_count))),
          y(scratch.take<float>(padded(job.d))) {}
};

// load_initial_slot loads a slot before the first token, put_boundary stores it at the start of a chunk, and
// put_final_slot stores it after the last token, also as the last boundary.
void load_initial_slot(const CpuJob& job, int64_t item, float* slot) {
    const int64_t stride = padded(job.d);
    std::copy_n(job.m.from.as<float>() + item * job.d, job.d, slot);
    std::fill(slot + job.d, slot + stride, 0.0f);
    cpu::normalise(slot, stride);
}

float* boundary_of(const CpuJob& job, int64_t item, int64_t boundary) {
    const int64_t at = item / job.slot_count * job.boundary_count + boundary;
    return job.boundaries.as<float>() + (at * job.slot_count + item % job.slot_count) * job.d;
}

void put_boundary(const CpuJob& job, int64_t item, int64_t token, const float* slot) {
    if (job.boundaries && token % job.chunk == 0)
        std::copy_n(slot, job.d, boundary_of(job, item, token / job.chunk));
}

void put_final_slot(const CpuJob& job, int64_t item, const float* slot) {
    if (job.m.to) std::copy_n(slot, job.d, job.m.to.as<float>() + item * job.d);
    if (job.boundaries) std::copy_n(slot, job.d, boundary_of(job, item, job.boundary_count - 1));
}

// y = sum of softmax(s_i . q) s_i over unit slots [slot_count, padded(d)]. `scores` has padded(slot_count)
// numbers.
void read(const CpuJob& job, const float* slots, const float* q, float* scores, float* y) {
    const int64_t stride = padded(job.d), count = padded(job.slot_count);
    for (int64_t i = 0; i < job.slot_count; ++i) scores[i] = cpu::dot(slots + i * stride, q, stride);
    const float largest = *std::max_element(scores, scores + job.slot_count);
    for (int64_t i = 0; i < count; ++i) scores[i] = i < job.slot_count ? scores[i] - largest : 0;
    cpu::exponentials(scores, count);
    float sum = 0;
    for (int64_t i = 0; i < job.slot_count; ++i) sum += scores[i];
    cpu::multiply({.left = {scores},
                   .right = {slots, stride, lanes},
                   .target = {y},
                   .rows = 1,
                   .inner = job.slot_count,
                   .blocks = strips_of(job.d)});
    cpu::scale(y, 1 / sum, stride);
}

// Updates all slots by one token. `gates` has padded(slot_count) numbers.
void step(const CpuJob& job, float* slots, const float* k, const float* v, float* gates) {
    const int64_t stride = padded(job.d), count = padded(job.slot_count);
    std::fill_n(gates, count, 0.0f);
    for (int64_t i = 0; i < job.slot_count; ++i) gates[i] = cpu::dot(slots + i * stride, k, stride);
    cpu::sigmoid(gates, count);
    for (int64_t i = 0; i < job.slot_count; ++i) {
        float* const slot = slots + i * stride;
        cpu::combine(slot, 1 - gates[i] * cpu::dot(slot, v, stride), slot, gates[i], v, stride);
        cpu::normalise(slot, stride);
    }
}

// Calls act(item, slot) for all slots of a sequence, which lie at `slots`.
template <class Act>
void each_slot(const CpuJob& job, int64_t sequence, float* slots, Act&& act) {
    for (int64_t i = 0; i < job.slot_count; ++i)
        act(sequence * job.slot_count + i, slots + i * padded(job.d));
}

// Walks all slots of a sequence over tokens. Only boundaries of the sequential walk, or of the first local
// memory of a shard, are stored.
void walk_tokens(const CpuJob& job, int64_t sequence, Range tokens, bool puts_boundaries,
                 const LatticeRooms& rooms, const std::stop_token& stop, float* slots) {
    const int64_t stride = padded(job.d);
    in_blocks(tokens, stop, [&](Range block) {
        job.load_keys(job.k, sequence, block, rooms.k);
        job.load(job.v, sequence, block, rooms.v);
        job.load_keys(job.q, sequence, block, rooms.q);
        for (int64_t row = 0; row < block.count(); ++row) {
            if (puts_boundaries)
                each_slot(job, sequence, slots, [&](int64_t at, const float* slot) {
                    put_boundary(job, at, block.first + row, slot);
                });
            step(job, slots, rooms.k + row * stride, rooms.v + row * stride, rooms.gates);
            read(job, slots, rooms.q + row * stride, rooms.scores, rooms.y);
            job.put(sequence, block.first + row, 0, rooms.y, stride);
        }
    });
}

struct LocalLatticeRooms {
    LatticeRooms walk;
    float* slots;

    LocalLatticeRooms(cpu::Scratch& scratch, const CpuJob& job)
        : walk(scratch, job, tokens_together(job.local_tokens)),
          slots(scratch.take<float>(job.slot_count * padded(job.d))) {}
};

}  // namespace

int64_t scratch_of_lattice(const CpuJob& job, int64_t tokens) {
    return cpu::scratch_bytes<LatticeRooms>(job, tokens_together(tokens));
}

void walk_lattice(const CpuJob& job, Range tokens, const cpu::Item& item) {
    const int64_t sequence = item.index;
    const auto rooms = cpu::take_rooms<LatticeRooms>(item.scratch, job, tokens_together(tokens.count()));
    float* const slots = job.m.live.as<float>() + sequence * job.slot_count * padded(job.d);
    const auto each = [&](auto&& act) {
        each_slot(job, sequence, slots, [&](int64_t at, float* slot) { act(job, at, slot); });
    };
    if (tokens.first == 0) each(load_initial_slot);
    walk_tokens(job, sequence, tokens, true, rooms, item.stop, slots);
    if (tokens.last == job.length) each(put_final_slot);
}

int64_t scratch_of_local_lattice(const CpuJob& job) { return cpu::scratch_bytes<LocalLatticeRooms>(job); }

void run_local_lattice(const CpuJob& job, const LocalSlots& local, const cpu::Item& item) {
    const int64_t size = job.slot_count * padded(job.d), at = local.sequence * size;
    const auto rooms = cpu::take_rooms<LocalLatticeRooms>(item.scratch, job);
    float* const slots = rooms.slots;
    const auto each = [&](auto&& act) {
        each_slot(job, local.sequence, slots, [&](int64_t slot, float* numbers) { act(job, slot, numbers); });
    };
    if (local.shard.first == 0)
        each(load_initial_slot);
    else
        std::copy_n(local.before.m + at, size, slots);
    walk_tokens(job, local.sequence, local.tokens, local.is_first(), rooms.walk, item.stop, slots);
    if (!local.is_last()) return;
    if (local.shard.last == job.length)
        each(put_final_slot);
    else
        std::copy_n(slots, size, local.after.m + at);
}

namespace {

// The slots of a range in tiles. Arrays are [batch, tiles, …].
struct TiledSlots {
    const CpuJob& job;
    TiledRange tiling;
    bool linearises;         // in lattice_gla; chunkwise_gd sums
    int64_t stride, tokens;  // padded(d), padded(tile)
    Buffer keys, values;     // [d, tokens]: transposed
    Buffer value_rows;       // [tokens, padded(d)]
    Buffer states;           // [slot_count, padded(d)]: x at the tile's start

    TiledSlots(const CpuJob& slots, Range longest, bool is_gla, Room& room)
        : job(slots),
          tiling(longest, job.chunk, usual_tile),
          linearises(is_gla),
          stride(padded(job.d)),
          tokens(padded(tiling.tile())),
          keys(room.take("keys", {job.batch, tiling.count(), job.d, tokens})),
          values(room.take("values", {job.batch, tiling.count(), job.d, tokens})),
          value_rows(room.take("rows of values", {job.batch, tiling.count(), tokens, stride})),
          states(room.take("slots of tiles", {job.batch, tiling.count(), job.slot_count, stride})) {}

    // These slots for another range, in the same arrays.
    TiledSlots in(Range range) const {
        TiledSlots ranged = *this;
        ranged.tiling = TiledRange(range, job.chunk, tiling.tile());
        for (Buffer* const array : {&ranged.keys, &ranged.values, &ranged.value_rows, &ranged.states})
            *array = first_of(*array, ranged.tiling.count());
        return ranged;
    }
    int64_t slot(int64_t sequence, int64_t tile) const { return sequence * tiling.count() + tile; }
    // The numbers of a tile in an array.
    float* tile_of(const Buffer& array, int64_t slot) const {
        return array.as<float>() + slot * array.shape[2] * array.shape[3];
    }
    float* state_of(int64_t sequence, int64_t tile) const { return tile_of(states, slot(sequence, tile)); }
};

struct PrepareSlotsRooms {
    float* k;

    PrepareSlotsRooms(cpu::Scratch& scratch, const TiledSlots& tiled)
        : k(scratch.take<float>(tiled.tiling.tile() * tiled.stride)) {}
};

void prepare(const TiledSlots& tiled, int64_t sequence, int64_t tile, float* k) {
    const CpuJob& job = tiled.job;
    const Range tokens = tiled.tiling.at(tile);
    const int64_t slot = tiled.slot(sequence, tile);
    const auto transpose = [&](const float* rows, const Buffer& to) {
        cpu::transpose(rows, tiled.stride, tokens.count(), job.d, tiled.tile_of(to, slot), tiled.tokens);
    };
    float* const v = tiled.tile_of(tiled.value_rows, slot);
    job.load_keys(job.k, sequence, tokens, k);
    transpose(k, tiled.keys);
    job.load(job.v, sequence, tokens, v);
    transpose(v, tiled.values);
}

// Computes g and s . v of a tile's tokens for `count` slots, [count, tokens] each.
void gates_of(const TiledSlots& tiled, int64_t slot, const float* slots, int64_t count, float* gates,
              float* projections) {
    const auto with = [&](const Buffer& transposed, float* to) {
        cpu::multiply({.left = {slots, tiled.stride, 1},
                       .right = {tiled.tile_of(transposed, slot), tiled.tokens, lanes},
                       .target = {to, tiled.tokens, lanes},
                       .rows = count,
                       .inner = tiled.job.d,
                       .blocks = tiled.tokens / lanes});
    };
    with(tiled.keys, gates);
    with(tiled.values, projections);
    cpu::sigmoid(gates, count * tiled.tokens);
}

struct WalkSlotRooms {
    float *gates, *projections;  // g and s . v of a tile's tokens
    float* factors;              // the weight of each value
    float* boundary;             // s

    WalkSlotRooms(cpu::Scratch& scratch, const TiledSlots& tiled)
        : gates(scratch.take<float>(tiled.tokens)),
          projections(scratch.take<float>(tiled.tokens)),
          factors(scratch.take<float>(tiled.tokens)),
          boundary(scratch.take<float>(tiled.stride)) {}
};

// Advances x over a whole tile: computes how much of x and of s is kept and the weight of each value,
// `factors`, then adds all values in one product.
void advance_slot(const TiledSlots& tiled, int64_t slot, int64_t count, const WalkSlotRooms& rooms,
                  float* x) {
    const auto [gates, projections, factors, boundary] = rooms;
    float stays = 1, boundary_weight = 0;
    for (int64_t t = count - 1; t >= 0; --t) {
        factors[t] = gates[t] * stays;
        if (tiled.linearises)
            stays *= 1 - gates[t] * projections[t];
        else
            boundary_weight += gates[t] * projections[t];
    }
    cpu::combine(x, stays, x, -boundary_weight, boundary, tiled.stride);
    cpu::multiply({.left = {factors},
                   .right = {tiled.tile_of(tiled.value_rows, slot), tiled.stride, lanes},
                   .target = {x},
                   .rows = 1,
                   .inner = count,
                   .blocks = tiled.stride / lanes,
                   .into = cpu::Into::add});
}

// Walks one slot over all tiles.
void walk_slot(const TiledSlots& tiled, const cpu::Item& item) {
    const CpuJob& job = tiled.job;
    const TiledRange& tiling = tiled.tiling;
    const int64_t sequence = item.index / job.slot_count, i = item.index % job.slot_count;
    float* const x = job.m.live.as<float>() + item.index * tiled.stride;
    const auto rooms = cpu::take_rooms<WalkSlotRooms>(item.scratch, tiled);
    if (tiling.tokens().first == 0) load_initial_slot(job, item.index, x);
    for (int64_t tile = 0; tile < tiling.count() && !item.stop.stop_requested(); ++tile) {
        const Range tokens = tiling.at(tile);
        if (tiling.opening(tile) == tile) {
            put_boundary(job, item.index, tokens.first, x);
            std::copy_n(x, tiled.stride, rooms.boundary);
        }
        std::copy_n(x, tiled.stride, tiled.state_of(sequence, tile) + i * tiled.stride);
        const int64_t slot = tiled.slot(sequence, tile);
        gates_of(tiled, slot, rooms.boundary, 1, rooms.gates, rooms.projections);
        advance_slot(tiled, slot, tokens.count(), rooms, x);
        if (tiling.closes_chunk(tile)) cpu::normalise(x, tiled.stride);
        item.tally.combines += tokens.count();
    }
    if (tiling.tokens().last == job.length) put_final_slot(job, item.index, x);
}

struct ReadSlotsRooms {
    float *gates, *projections;  // g and s . v of a tile's tokens for every slot
    float *x, *unit;             // every slot after a token, and normalised
    float* q;                    // queries of a tile
    float *scores, *y;           // numbers of one token

    ReadSlotsRooms(cpu::Scratch& scratch, const TiledSlots& tiled)
        : gates(scratch.take<float>(tiled.job.slot_count * tiled.tokens)),
          projections(scratch.take<float>(tiled.job.slot_count * tiled.tokens)),
          x(scratch.take<float>(tiled.job.slot_count * tiled.stride)),
          unit(scratch.take<float>(tiled.job.slot_count * tiled.stride)),
          q(scratch.take<float>(tiled.tiling.tile() * tiled.stride)),
          scores(scratch.take<float>(padded(tiled.job.slot_count))),
          y(scratch.take<float>(tiled.stride)) {}
};

void read_tile(const TiledSlots& tiled, const cpu::Item& item) {
    const CpuJob& job = tiled.job;
    const int64_t sequence = item.index / tiled.tiling.count(), tile = item.index % tiled.tiling.count();
    const Range tokens = tiled.tiling.at(tile);
    const int64_t slot = tiled.slot(sequence, tile), m = job.slot_count, stride = tiled.stride;
    const float *const boundary = tiled.state_of(sequence, tiled.tiling.opening(tile)),
                       *const values = tiled.tile_of(tiled.value_rows, slot);
    const auto [gates, projections, x, unit, q, scores, y] =
        cpu::take_rooms<ReadSlotsRooms>(item.scratch, tiled);
    job.load_keys(job.q, sequence, tokens, q);
    std::copy_n(tiled.state_of(sequence, tile), m * stride, x);
    gates_of(tiled, slot, boundary, m, gates, projections);
    for (int64_t row = 0; row < tokens.count(); ++row) {
        const float* const v = values + row * stride;
        for (int64_t i = 0; i < m; ++i) {
            const float gate = gates[i * tiled.tokens + row],
                        taken = gate * projections[i * tiled.tokens + row];
            float* const slot_i = x + i * stride;
            cpu::combine(slot_i, tiled.linearises ? 1 - taken : 1, slot_i, gate, v, stride);
            if (!tiled.linearises) cpu::combine(slot_i, 1, slot_i, -taken, boundary + i * stride, stride);
            std::copy_n(slot_i, stride, unit + i * stride);
            cpu::normalise(unit + i * stride, stride);
        }
        read(job, job.reads_boundary ? boundary : unit, q + row * stride, scores, y);
        job.put(sequence, tokens.first + row, 0, y, stride);
    }
}

}  // namespace

AddRange lattice_chunks(const CpuJob& job, Range longest, bool linearises, Room& room) {
    return [all = TiledSlots(job, longest, linearises, room)](cpu::PlanBuilder& builder, Range range) {
        const TiledSlots& tiled = builder.keep(all.in(range));
        const CpuJob& job = tiled.job;
        const Side tiles = side("B", job.batch) * side("tiles", tiled.tiling.count());
        const Buffers prepared = {tiled.keys, tiled.values, tiled.value_rows};
        builder.launch({.name = "prepare",
                        .meaning = "Normalises keys, transposes keys and values, tile by tile.",
                        .reads = {first_of(job.k, range.count()), first_of(job.v, range.count())},
                        .writes = prepared,
                        .scratch_bytes = cpu::scratch_bytes<PrepareSlotsRooms>(tiled),
                        .work = {.operations = 3 * static_cast<double>(job.batch * range.count() * job.d)}},
                       tiles, [&tiled, count = tiled.tiling.count()](const cpu::Item& item) {
                           prepare(tiled, item.index / count, item.index % count,
                                   cpu::take_rooms<PrepareSlotsRooms>(item.scratch, tiled).k);
                       });
        builder.launch(with_scratch(launches::walk_slots(job, tiled.tiling, prepared, tiled.states),
                                    cpu::scratch_bytes<WalkSlotRooms>(tiled)),
                       side("B", job.batch) * side("slot_count", job.slot_count),
                       [&tiled](const cpu::Item& item) { walk_slot(tiled, item); });
        builder.launch(with_scratch(launches::read_slots(job, tiled.tiling, prepared, tiled.states),
                                    cpu::scratch_bytes<ReadSlotsRooms>(tiled)),
                       tiles, [&tiled](const cpu::Item& item) { read_tile(tiled, item); });
    };
}

AddRange on_cpu::lattice_gla(const CpuJob& job, Range longest, Room& room) {
    return job.rule->is(State::slots) ? lattice_chunks(job, longest, true, room)
                                      : trellis_chunks(job, longest, true, room);
}

}  // namespace sawtooth::memory

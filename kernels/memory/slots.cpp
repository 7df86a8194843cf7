#include "kernels/memory/slots.h"

#include <algorithm>

#include "kernels/memory/launches.h"
#include "kernels/memory/scratch.h"
#include "kernels/memory/strategies.h"
#include "kernels/memory/vectors.h"
#include "kernels/memory/walk.h"

namespace sawtooth::memory {
namespace {

struct Scratch {
    std::vector<float> gates, shares, slots, unit, boundary, y;
};
thread_local Scratch scratch;

// A range in tiles, with room a (batch, tile).
struct TiledSlots {
    const Job& job;
    Tiling tiling;
    SlotUpdate update;
    int64_t stride, tokens;       // padded(d), padded(tile)
    float *k, *v;                 // [d, tokens]: transposed
    float *value_rows, *queries;  // [tile, padded(d)]
    float* states;                // [slot_count, padded(d)]: x at the tile's start

    TiledSlots(const Job& of, Range range, Pulse pulse, SlotUpdate how, Pieces& room)
        : job(of),
          tiling(range, pulse, usual_tile),
          update(how),
          stride(padded(of.width)),
          tokens(padded(tiling.tile())) {
        const int64_t slots = job.batch * tiling.count();
        k = room.take(slots * job.width * tokens);
        v = room.take(slots * job.width * tokens);
        value_rows = room.take(slots * tokens * stride);
        queries = room.take(slots * tokens * stride);
        states = room.take(slots * job.slot_count * stride);
    }
    int64_t at(int64_t batch, int64_t tile) const { return batch * tiling.count() + tile; }
    float* state_of(int64_t batch, int64_t tile) const {
        return states + at(batch, tile) * job.slot_count * stride;
    }
};
using Shared = std::shared_ptr<const TiledSlots>;

void prepare(const TiledSlots& tiled, int64_t batch, int64_t tile) {
    const Job& job = tiled.job;
    const Range tokens = tiled.tiling.at(tile);
    const int64_t at = tiled.at(batch, tile), size = job.width * tiled.tokens;
    float* const v = tiled.value_rows + at * tiled.tokens * tiled.stride;
    float* const q = tiled.queries + at * tiled.tokens * tiled.stride;
    job.load_keys(job.k, batch, tokens, q);
    transpose(q, tiled.stride, tokens.count(), job.width, tiled.k + at * size, tiled.tokens);
    job.v.load(batch, tokens, v, tiled.stride);
    transpose(v, tiled.stride, tokens.count(), job.width, tiled.v + at * size, tiled.tokens);
    job.load_keys(job.q, batch, tokens, q);
}

// g and s . v of a tile's tokens for `count` slots: [count, tokens] each.
void gates_of(const TiledSlots& tiled, int64_t at, const float* slots, int64_t count, float* gates,
              float* shares) {
    const int64_t size = tiled.job.width * tiled.tokens;
    const auto with = [&](const float* transposed, float* to) {
        multiply({.left = {slots, tiled.stride, 1},
                  .right = {transposed, tiled.tokens, lanes},
                  .target = {to, tiled.tokens, lanes},
                  .rows = count,
                  .inner = tiled.job.width,
                  .blocks = tiled.tokens / lanes});
    };
    with(tiled.k + at * size, gates);
    with(tiled.v + at * size, shares);
    sigmoid(gates, count * tiled.tokens);
}

// x over a whole tile: what stays of it and of s, and how much of each value is added, `factors`.
void advance_slot(const TiledSlots& tiled, int64_t at, int64_t count, const float* gates, const float* shares,
                  const float* boundary, float* x) {
    float* const factors = at_least(scratch.unit, tiled.tokens);
    float stays = 1, of_boundary = 0;
    for (int64_t t = count - 1; t >= 0; --t) {
        if (tiled.update == SlotUpdate::sums) {
            factors[t] = gates[t];
            of_boundary += gates[t] * shares[t];
        } else {
            factors[t] = gates[t] * stays;
            stays *= 1 - gates[t] * shares[t];
        }
    }
    combine(x, stays, x, -of_boundary, boundary, tiled.stride);
    multiply({.left = {factors},
              .right = {tiled.value_rows + at * tiled.tokens * tiled.stride, tiled.stride, lanes},
              .target = {x},
              .rows = 1,
              .inner = count,
              .blocks = tiled.stride / lanes,
              .into = Into::add});
}

// One slot over all tiles.
void walk_slot(const TiledSlots& tiled, const cpu::Item& item) {
    const Job& job = tiled.job;
    const int64_t batch = item.index / job.slot_count, slot = item.index % job.slot_count;
    float* const x = job.live_slots + item.index * tiled.stride;
    float* const gates = at_least(scratch.gates, tiled.tokens);
    float* const shares = at_least(scratch.shares, tiled.tokens);
    float* const boundary = at_least(scratch.boundary, tiled.stride);
    if (tiled.tiling.tokens().first == 0) load_initial_slot(job, item.index);
    for (int64_t tile = 0; tile < tiled.tiling.count() && !item.stop.stop_requested(); ++tile) {
        const Range tokens = tiled.tiling.at(tile);
        if (tiled.tiling.opening(tile) == tile) {
            put_slot_boundary(job, item.index, tokens.first, x);
            std::copy_n(x, tiled.stride, boundary);
        }
        std::copy_n(x, tiled.stride, tiled.state_of(batch, tile) + slot * tiled.stride);
        const int64_t at = tiled.at(batch, tile);
        gates_of(tiled, at, boundary, 1, gates, shares);
        advance_slot(tiled, at, tokens.count(), gates, shares, boundary, x);
        if (tiled.tiling.closes_chunk(tile)) normalise(x, tiled.stride);
        item.tally.combines += tokens.count();
    }
    if (tiled.tiling.tokens().last == job.length) put_final_slot(job, item.index);
}

void read_tile(const TiledSlots& tiled, int64_t batch, int64_t tile) {
    const Job& job = tiled.job;
    const Range tokens = tiled.tiling.at(tile);
    const int64_t at = tiled.at(batch, tile), m = job.slot_count, stride = tiled.stride;
    const float* const boundary = tiled.state_of(batch, tiled.tiling.opening(tile));
    float* const gates = at_least(scratch.gates, m * tiled.tokens);
    float* const shares = at_least(scratch.shares, m * tiled.tokens);
    float* const x = at_least(scratch.slots, 2 * m * stride);
    float* const unit = x + m * stride;
    float* const y = at_least(scratch.y, stride);
    std::copy_n(tiled.state_of(batch, tile), m * stride, x);
    gates_of(tiled, at, boundary, m, gates, shares);
    for (int64_t row = 0; row < tokens.count(); ++row) {
        const int64_t in_tile = at * tiled.tokens + row;
        const float* const v = tiled.value_rows + in_tile * stride;
        for (int64_t i = 0; i < m; ++i) {
            const float gate = gates[i * tiled.tokens + row], taken = gate * shares[i * tiled.tokens + row];
            float* const slot = x + i * stride;
            if (tiled.update == SlotUpdate::sums) {
                combine(slot, 1, slot, gate, v, stride);
                combine(slot, 1, slot, -taken, boundary + i * stride, stride);
            } else {
                combine(slot, 1 - taken, slot, gate, v, stride);
            }
            std::copy_n(slot, stride, unit + i * stride);
            normalise(unit + i * stride, stride);
        }
        read_slots(job, job.reads_boundary ? boundary : unit, tiled.queries + in_tile * stride, y);
        job.y.put(batch, tokens.first + row, 0, y, stride);
    }
}

double slot_operations(const TiledSlots& tiled, double a_token_and_slot) {
    return static_cast<double>(tiled.job.batch * tiled.tiling.tokens().count() * tiled.job.slot_count *
                               tiled.job.width) *
           a_token_and_slot;
}

}  // namespace

void add_slot_launches(Plan& plan, const Job& job, Range tokens, Pulse pulse, SlotUpdate update,
                       float* room) {
    Pieces pieces(room);
    const Shared tiled = std::make_shared<const TiledSlots>(job, tokens, pulse, update, pieces);
    const int64_t tiles = tiled->tiling.count();
    const auto vectors = tokens_read(job, tokens.count());
    const ArrayUse slots = {"slots of tiles", {job.batch, tiles, job.slot_count, job.width}};
    const double bytes = 4 * static_cast<double>(job.batch * tokens.count() * job.width);
    const double state_bytes = 4 * static_cast<double>(count_of(slots.shape));
    add_launch(
        plan,
        describe("prepare", "Keys and queries are normalised, keys and values transposed, tile by tile.",
                 job.batch * tiles, "B * tiles", vectors, vectors,
                 {8 * bytes, static_cast<double>(job.batch * tokens.count() * job.width) * 6}),
        [tiled, tiles](const cpu::Item& item) { prepare(*tiled, item.index / tiles, item.index % tiles); });
    add_launch(plan,
               describe("walk_slots", "From boundary to boundary, every slot for itself.",
                        job.batch * job.slot_count, "B * slot_count", vectors, {slots},
                        {3 * bytes + state_bytes, slot_operations(*tiled, 6)}),
               [tiled](const cpu::Item& item) { walk_slot(*tiled, item); });
    add_launch(
        plan,
        describe("read_slots", "All tokens of all tiles read the slots.", job.batch * tiles, "B * tiles",
                 {vectors.front(), vectors.back(), slots}, tokens_written(job, tokens.count()),
                 {4 * bytes + state_bytes, slot_operations(*tiled, 16)}),
        [tiled, tiles](const cpu::Item& item) { read_tile(*tiled, item.index / tiles, item.index % tiles); });
}

int64_t slot_room(const Job& job, Range tokens, Pulse pulse) {
    Pieces counted(nullptr);
    TiledSlots(job, tokens, pulse, SlotUpdate::sums, counted);
    return counted.taken();
}

void forward::lattice_gla(Plan& plan, const Job& state, Range tokens, Pulse pulse, float* room) {
    add_slot_launches(plan, state, tokens, pulse, SlotUpdate::linearised, room);
}

int64_t room::lattice_gla(const Job& job, Range tokens, Pulse pulse) { return slot_room(job, tokens, pulse); }

}  // namespace sawtooth::memory

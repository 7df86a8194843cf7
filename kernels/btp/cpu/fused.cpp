// Block Two-Pass in one launch each way. An item walks the blocks of one stretch of a head and hands the
// carry from block to block. With order 2 it computes what enters its stretch from the block before it; with
// order full it finds it by decoupled look-back. The gradients walk from the end in the same way.

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "kernels/btp/cpu/block.h"
#include "kernels/btp/cpu/sum_of_sequences.h"
#include "kernels/btp/launches.h"
#include "kernels/btp/parts.h"
#include "kernels/cpu/lookback.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::btp {
namespace {

// Returns the decay of two blocks. A product that underflows becomes FLT_MIN instead of 0, which would make
// NaN of an infinite carry.
float decay_of_both(float left, float right) {
    const float product = left * right;
    return std::abs(product) < FLT_MIN && left != 0 && right != 0 ? std::copysign(FLT_MIN, product) : product;
}

// Returns what a decay leaves of a value. FLT_MIN leaves nothing of a finite one, as the product would be
// subnormal, which is slow.
float decayed(float decay, float value) {
    return std::abs(decay) == FLT_MIN && std::isfinite(value) ? 0 : decay * value;
}

struct WalkRooms {
    BlockRooms block;
    float *value, *next;  // what enters a block and what leaves it

    WalkRooms(cpu::Scratch& scratch, const Tensors& job)
        : block(scratch, job), value(scratch.take<float>(job.width)), next(scratch.take<float>(job.width)) {}
};

// The walk of an item along its stretch. It hands the carry from block to block, or from the end the gradient
// of the carry. What leaves a block is its contribution and, with order full, its decay times what
// entered it.
struct Walk {
    const Tensors& job;
    bool from_end;
    int64_t stretches;
    cpu::Lookback board;
    // What leaves a stretch if nothing enters it, what leaves it, and its decay. Only order full has these.
    Buffer totals, prefixes, decays;

    Walk(cpu::PlanBuilder& builder, const Tensors& tensors, bool backwards)
        : job(tensors),
          from_end(backwards),
          stretches(ceil_divide(job.blocks(), blocks_a_stretch(job.block))),
          board(builder, kept(), job.heads),
          totals(take(builder, "totals of stretches", {stretches, job.heads, job.width})),
          prefixes(take(builder, "prefixes of stretches", {stretches, job.heads, job.width})),
          decays(take(builder, "decays of stretches", {stretches, job.heads})) {}

    Range steps(int64_t stretch) const { return tile_at(stretch, blocks_a_stretch(job.block), job.blocks()); }
    int64_t block_at(int64_t step) const { return from_end ? job.blocks() - 1 - step : step; }

    // Sets rooms.value to what enters a stretch. Returns false if the dispatch was stopped.
    bool enter(int64_t stretch, int64_t head, const cpu::Item& item, const WalkRooms& rooms) const {
        if (from_end)
            std::fill_n(rooms.value, job.width, 0.0f);
        else
            job.first_carry_into(rooms.value, head);
        if (job.order == Order::full) return look_back(stretch, head, item, rooms);
        if (job.order == Order::one || stretch == 0) return true;
        Block before(job, rooms.block, head, block_at(steps(stretch).first - 1));
        contribute(before, rooms.value);
        return true;
    }

  private:
    int64_t kept() const { return job.order == Order::full ? stretches : 0; }
    Buffer take(cpu::PlanBuilder& builder, const char* name, Shape shape) const {
        return kept() > 0 ? builder.take(name, std::move(shape)) : Buffer();
    }
    float* total(int64_t stretch, int64_t head) const {
        return totals.as<float>() + at(stretch, head) * job.width;
    }
    float* prefix(int64_t stretch, int64_t head) const {
        return prefixes.as<float>() + at(stretch, head) * job.width;
    }
    float& decay(int64_t stretch, int64_t head) const { return decays.as<float>()[at(stretch, head)]; }
    int64_t at(int64_t stretch, int64_t head) const { return stretch * job.heads + head; }

    // to = the contribution of a block: what leaves it if nothing enters it.
    void contribute(Block& block, float* to) const {
        from_end ? block.carry_gradient(to) : block.last_value(to);
    }

    // Computes the total and the decay of a stretch. `room` is memory for one value.
    void fold(int64_t stretch, int64_t head, const BlockRooms& rooms, float* room) const {
        float* const sum = total(stretch, head);
        float& product = decay(stretch, head) = 1;
        std::fill_n(sum, job.width, 0.0f);
        for (int64_t step = steps(stretch).first; step < steps(stretch).last; ++step) {
            Block block(job, rooms, head, block_at(step));
            contribute(block, room);
            block.decay_into(sum, room);
            std::copy_n(room, job.width, sum);
            product = decay_of_both(product, block.decay());
        }
    }

    // to = what leaves a stretch if `value` enters it.
    void pass(int64_t stretch, int64_t head, const float* value, float* to) const {
        for (int64_t c = 0; c < job.width; ++c)
            to[c] = total(stretch, head)[c] + decayed(decay(stretch, head), value[c]);
    }

    // Computes what enters the stretch into rooms.value, which at first is what enters stretch 0. From the
    // prefix that was found it passes stretch after stretch, as prefixes themselves are computed, so that the
    // bits do not depend on how far a stretch had to look back.
    bool look_back(int64_t stretch, int64_t head, const cpu::Item& item, const WalkRooms& rooms) const {
        float* const value = rooms.value;
        fold(stretch, head, rooms.block, prefix(stretch, head));
        board.publish_total(stretch, head);
        const int64_t found = board.find_prefix(stretch, head, item);
        if (found == cpu::Lookback::stopped) return false;
        if (found != cpu::Lookback::none) std::copy_n(prefix(found, head), job.width, value);
        for (int64_t between = found + 1; between < stretch; ++between) pass(between, head, value, value);
        pass(stretch, head, value, prefix(stretch, head));
        board.publish_prefix(stretch, head);
        return true;
    }
};

// Works on one block, which `value` enters and `next` leaves.
using WorkOnBlock = void (*)(const Tensors&, const BlockRooms&, int64_t head, int64_t index,
                             const float* value, float* next);

void solve(const Tensors& job, const BlockRooms& rooms, int64_t head, int64_t index, const float* carry,
           float* next) {
    Block block(job, rooms, head, index);
    std::copy_n(carry, job.width, job.channels_at(job.carry, head, index));
    block.solve();
    if (job.order != Order::one) {
        block.solved_last(next);
        block.add_carry(carry);
    }
    if (job.order == Order::full) block.decay_into(carry, next);
    block.store_x();
}

void differentiate(const Tensors& job, const BlockRooms& rooms, int64_t head, int64_t index,
                   const float* gradient, float* next) {
    Block block(job, rooms, head, index);
    if (job.order != Order::one) block.carry_gradient(next);
    if (job.order == Order::full) block.decay_into(gradient, next);
    block.differentiate(job.channels_at(job.carry, head, index),
                        job.order == Order::one ? nullptr : gradient);
}

void walk_stretch(const Walk& walk, WorkOnBlock act, const cpu::Item& item) {
    const Tensors& job = walk.job;
    const int64_t stretch = item.index / job.heads, head = item.index % job.heads;
    const auto rooms = cpu::take_rooms<WalkRooms>(item.scratch, job);
    if (!walk.enter(stretch, head, item, rooms)) return;
    float *value = rooms.value, *next = rooms.next;
    std::fill_n(next, job.width, 0.0f);
    for (int64_t step = walk.steps(stretch).first; step < walk.steps(stretch).last; ++step) {
        act(job, rooms.block, head, walk.block_at(step), value, next);
        std::swap(value, next);
    }
    if (walk.from_end && stretch + 1 == walk.stretches) job.store_first_gradient(value, head);
}

void add(cpu::PlanBuilder& builder, const Tensors& job, LaunchInfo info, bool from_end, WorkOnBlock act) {
    const Walk& walk = builder.keep(Walk(builder, job, from_end));
    for (const Buffer& shared : {walk.totals, walk.prefixes, walk.decays}) info.writes.push_back(shared);
    // An item waits only for items with smaller indices.
    builder.launch(
        with_scratch(std::move(info), cpu::scratch_bytes<WalkRooms>(job)),
        pieces("L", job.length, blocks_a_stretch(job.block) * job.block) * side("B H", job.heads),
        cpu::Split::cyclic, [&walk, act](const cpu::Item& item) { walk_stretch(walk, act, item); },
        [&walk] { walk.board.start_run(); });
}

}  // namespace

Outcome<Plan> plan_fused_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const Tensors& job = builder.keep(Tensors(builder));
    add(builder, job, fused(job), false, solve);
    if (job.da) add(builder, job, gradients(job), true, differentiate);
    if (job.sums_sequences()) add_sum_of_sequences(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::btp

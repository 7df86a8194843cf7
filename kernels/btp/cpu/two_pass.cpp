// Block Two-Pass in two launches each way. Forward, the first solves the blocks and the second adds their
// carries; backward, the first computes the gradients of the carries and the second those of gates and
// inputs. Order 1 has no carries and needs one launch each way. An item is one block, or one head where a
// launch scans the carries of order full.

#include <algorithm>
#include <utility>

#include "kernels/btp/cpu/block.h"
#include "kernels/btp/cpu/sum_of_sequences.h"
#include "kernels/btp/launches.h"
#include "kernels/btp/parts.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::btp {
namespace {

struct TwoPass {
    const Tensors& job;
    Buffer dc;  // gradients of the carries; absent for order 1

    float* carry(int64_t head, int64_t index) const { return job.channels_at(job.carry, head, index); }
    float* gradient(int64_t head, int64_t index) const { return job.channels_at(dc, head, index); }
    bool has_next(int64_t index) const { return index + 1 < job.blocks(); }

    // Solves a block. Its last value is the carry into the next block.
    void solve(const BlockRooms& rooms, int64_t head, int64_t index) const {
        Block block(job, rooms, head, index);
        block.solve();
        block.store_x();
        if (index == 0)
            job.first_carry_into(carry(head, index), head);
        else if (job.order == Order::one)
            std::fill_n(carry(head, index), job.width, 0.0f);
        if (job.order != Order::one && has_next(index)) block.solved_last(carry(head, index + 1));
    }

    void add_carry(const BlockRooms& rooms, int64_t head, int64_t index) const {
        Block block(job, rooms, head, index);
        block.load_x();
        block.add_carry(carry(head, index));
        block.store_x();
        if (job.order == Order::full && has_next(index))
            block.decay_into(carry(head, index), carry(head, index + 1));
    }

    void differentiate_carry(const BlockRooms& rooms, int64_t head, int64_t index) const {
        Block(job, rooms, head, index).carry_gradient(gradient(head, index));
    }

    void differentiate(const BlockRooms& rooms, int64_t head, int64_t index) const {
        const float* const next = dc && has_next(index) ? gradient(head, index + 1) : nullptr;
        Block block(job, rooms, head, index);
        if (job.order == Order::full && next) block.decay_into(next, gradient(head, index));
        block.differentiate(carry(head, index), next);
        if (dc && index == 0) job.store_first_gradient(gradient(head, index), head);
    }
};

using BlockStep = void (TwoPass::*)(const BlockRooms& rooms, int64_t head, int64_t index) const;

LaunchInfo with_rooms(LaunchInfo info, const Tensors& job) {
    return with_scratch(std::move(info), cpu::scratch_bytes<BlockRooms>(job));
}

void add_blocks(cpu::PlanBuilder& builder, const TwoPass& pass, LaunchInfo info, BlockStep act) {
    const Side blocks = side("B H", pass.job.heads) * pieces("L", pass.job.length, "BL", pass.job.block);
    builder.launch(with_rooms(std::move(info), pass.job), blocks, [&pass, act](const cpu::Item& item) {
        const int64_t blocks = pass.job.blocks();
        const auto rooms = cpu::take_rooms<BlockRooms>(item.scratch, pass.job);
        (pass.*act)(rooms, item.index / blocks, item.index % blocks);
    });
}

// Adds a launch whose items walk the blocks of a head in order, or from the last one.
void add_heads(cpu::PlanBuilder& builder, const TwoPass& pass, LaunchInfo info, BlockStep act,
               bool from_end) {
    builder.launch(with_rooms(std::move(info), pass.job), side("B H", pass.job.heads),
                   [=, &pass](const cpu::Item& item) {
                       const int64_t blocks = pass.job.blocks();
                       const auto rooms = cpu::take_rooms<BlockRooms>(item.scratch, pass.job);
                       for (int64_t i = 0; i < blocks && !item.stop.stop_requested(); ++i)
                           (pass.*act)(rooms, item.index, from_end ? blocks - 1 - i : i);
                   });
}

}  // namespace

Outcome<Plan> plan_two_pass_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const Tensors& job = builder.keep(Tensors(builder));
    const bool carries = job.order != Order::one, scans = job.order == Order::full;
    const Buffer dc = carries && job.da ? builder.take("dc", job.carry.shape) : Buffer();
    const TwoPass& pass = builder.keep(TwoPass{job, dc});

    add_blocks(builder, pass, first_pass(job), &TwoPass::solve);
    if (scans)
        add_heads(builder, pass, second_pass(job), &TwoPass::add_carry, false);
    else if (carries)
        add_blocks(builder, pass, second_pass(job), &TwoPass::add_carry);
    if (!job.da) return builder.finish();
    if (carries) add_blocks(builder, pass, first_gradient_pass(job, dc), &TwoPass::differentiate_carry);
    LaunchInfo last = second_gradient_pass(job, dc);
    if (scans) {
        last.writes.push_back(dc);  // scanned in place
        add_heads(builder, pass, std::move(last), &TwoPass::differentiate, true);
    } else {
        add_blocks(builder, pass, std::move(last), &TwoPass::differentiate);
    }
    if (job.sums_sequences()) add_sum_of_sequences(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::btp

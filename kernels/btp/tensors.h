#pragma once

#include "kernels/btp/sizes.h"
#include "kernels/core/plan_builder.h"

namespace sawtooth::btp {

// The arrays of the family. Gates and values [B, H, DH, L] are in the storage of the inputs, x in its own;
// carries [B, H, blocks, DH], da, carry0 and dcarry0 [B, H, DH] are f32. Gates are [B, H, L], or [H, L] if
// the batch shares them. Without a backward pass dx and all gradients are absent; without carry0, which the
// first block receives, so is dcarry0.
struct Tensors : Sizes {
    explicit Tensors(PlanBuilder& builder)
        : Tensors(builder, storage_named(builder.parameters().text("dtype"))) {}

    int64_t gate_at(int64_t head, int64_t position) const { return gate_row(head) * length + position; }
    // The place in `da_of_sequences`.
    int64_t gate_gradient_at(int64_t head, int64_t position) const { return head * length + position; }
    // Whether da is the sum of da_of_sequences.
    bool sums_sequences() const { return da && gate_rows < heads; }
    int64_t value_at(int64_t head, int64_t channel, int64_t position) const {
        return (head * width + channel) * length + position;
    }
    // The numbers of all channels for a block in an array like `carry`, in memory of the CPU.
    float* channels_at(const Buffer& carries, int64_t head, int64_t index) const {
        return carries.as<float>() + (head * blocks() + index) * width;
    }
    // Sets `to` to what the first block of a head receives, in memory of the CPU.
    void first_carry_into(float* to, int64_t head) const {
        if (carry0)
            std::copy_n(carry0.as<float>() + head * width, width, to);
        else
            std::fill_n(to, width, 0.0f);
    }
    // Stores the gradient of carry0 if it is wanted, in memory of the CPU.
    void store_first_gradient(const float* dc, int64_t head) const {
        if (dcarry0) std::copy_n(dc, width, dcarry0.as<float>() + head * width);
    }

    Order order;
    Construction construction;
    Storage storage, x_storage;
    Buffer a, u, carry0, x, carry, da, du, dcarry0, dx;
    Buffer da_of_sequences;  // [B, H, L]: da, unless it is summed over a batch that shares its gates

  private:
    Tensors(PlanBuilder& builder, Storage stored)
        : Sizes(builder.parameters()),
          order(order_of(builder.parameters())),
          construction(construction_of(builder.parameters())),
          storage(stored),
          x_storage(storage_named(builder.parameters().text("out_dtype"))),
          a(builder.input("a", stored)),
          u(builder.input("u", stored)),
          carry0(builder.input("carry0")),
          x(builder.output("x", x_storage)),
          carry(builder.output("carry")),
          da(builder.output("da")),
          du(builder.output("du", stored)),
          dcarry0(carry0 ? builder.output("dcarry0") : Buffer()),
          dx(da ? builder.input("dx", stored) : Buffer()),
          da_of_sequences(sums_sequences() ? builder.take("da of sequences", {batch, gate_rows, length})
                                           : da) {}
};

}  // namespace sawtooth::btp

#pragma once

#include "kernels/btp/sizes.h"
#include "kernels/core/plan_builder.h"

namespace sawtooth::btp {

// The arrays of the family. Values [B, H, DH, L] and gates [B, H, L] are in the storage of the request,
// carries [B, H, blocks, DH] and da in f32. Without a backward pass dx, da and du are absent.
struct Tensors : Sizes {
    explicit Tensors(PlanBuilder& builder)
        : Tensors(builder, storage_named(builder.parameters().text("dtype"))) {}

    int64_t gate_at(int64_t head, int64_t position) const { return head * length + position; }
    int64_t value_at(int64_t head, int64_t channel, int64_t position) const {
        return (head * width + channel) * length + position;
    }
    // The numbers of all channels for a block in an array like `carry`, in memory of the CPU.
    float* channels_at(const Buffer& carries, int64_t head, int64_t index) const {
        return carries.as<float>() + (head * blocks() + index) * width;
    }

    Order order;
    Construction construction;
    Storage storage;
    Buffer a, u, x, carry, da, du, dx;

  private:
    Tensors(PlanBuilder& builder, Storage stored)
        : Sizes(builder.parameters()),
          order(order_of(builder.parameters())),
          construction(construction_of(builder.parameters())),
          storage(stored),
          a(builder.input("a", stored)),
          u(builder.input("u", stored)),
          x(builder.output("x", stored)),
          carry(builder.output("carry")),
          da(builder.output("da")),
          du(builder.output("du", stored)),
          dx(da ? builder.input("dx", stored) : Buffer()) {}
};

}  // namespace sawtooth::btp

#pragma once

#include <algorithm>

#include "kernels/btp/sizes.h"
#include "kernels/core/plan_builder.h"
#include "kernels/cpu/half.h"

namespace sawtooth::btp {

// What the variants on the CPU work on. They compute in f32; a, u, dx, x and du are stored in `storage`.
struct CpuJob : Sizes {
    explicit CpuJob(PlanBuilder& builder)
        : Sizes(builder.parameters()),
          order(order_of(builder.parameters())),
          construction(construction_of(builder.parameters())),
          storage(storage_named(builder.parameters().text("dtype"))),
          a(builder.input("a", storage)),
          u(builder.input("u", storage)),
          dx(builder.input("dx", storage)),
          x(builder.output("x", storage)),
          du(builder.output("du", storage)),
          carry(builder.output("carry")),
          da(builder.output("da")) {}

    int64_t gate_at(int64_t head, int64_t position) const { return head * length + position; }
    int64_t value_at(int64_t head, int64_t channel, int64_t position) const {
        return (head * width + channel) * length + position;
    }
    int64_t carry_at(int64_t head, int64_t index) const { return (head * blocks() + index) * width; }

    // Of numbers in that storage, from or to f32.
    void read(const void* from, int64_t at, int64_t count, float* to) const {
        if (storage == Storage::f32)
            std::copy_n(static_cast<const float*>(from) + at, count, to);
        else
            cpu::widen(storage, static_cast<const uint16_t*>(from) + at, to, count);
    }
    void write(const float* from, int64_t count, void* to, int64_t at) const {
        if (storage == Storage::f32)
            std::copy_n(from, count, static_cast<float*>(to) + at);
        else
            cpu::narrow(storage, from, static_cast<uint16_t*>(to) + at, count);
    }

    // Asks for numbers that are read soon.
    void prefetch(const void* from, int64_t at, int64_t count) const {
        constexpr int64_t line = 64;
        const auto* const bytes = static_cast<const char*>(from) + at * bytes_of(storage);
        for (int64_t i = 0; i < count * bytes_of(storage); i += line) __builtin_prefetch(bytes + i, 0, 2);
    }

    Order order;
    Construction construction;
    Storage storage;
    const void *a, *u, *dx;
    void *x, *du;  // du and da are null without a backward pass
    float *carry, *da;
};

}  // namespace sawtooth::btp

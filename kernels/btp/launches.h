#pragma once

// The launches of all variants on both backends: what they mean, read, write and compute.

#include "kernels/btp/tensors.h"
#include "kernels/core/launch.h"

namespace sawtooth::btp {

// The number of elements of an array of values.
inline double numbers(const Tensors& t) { return static_cast<double>(t.rows() * t.length); }

// The operations of a product with all transfer matrices: two for every pair of positions j <= i of a block.
inline double product(const Tensors& t) {
    const auto pairs = [](int64_t n) { return static_cast<double>(n * (n + 1)); };
    const int64_t whole = t.length / t.block;
    return static_cast<double>(t.rows()) *
           (static_cast<double>(whole) * pairs(t.block) + pairs(t.length % t.block));
}

// This launch repeats for every token; `state` is [B H, DH, 2].
inline LaunchInfo token(const Tensors& t, const Buffer& state) {
    const Shape gates = {t.gate_rows}, values = {t.heads, t.width};
    return {.name = "token",
            .meaning = "Moves the state of every channel by one token.",
            .reads = {t.a.part(gates), t.u.part(values), t.carry0, state},
            .writes = {t.x.part(values), t.carry.part(values), state},
            .work = {.operations = 4 * static_cast<double>(t.rows())}};
}

inline LaunchInfo decode(const Tensors& t) {
    return {.name = "decode",
            .meaning = "Steps through the tokens with the state of every channel in registers.",
            .reads = {t.a, t.u, t.carry0},
            .writes = {t.x, t.carry},
            .work = {.operations = 4 * numbers(t)}};
}

// This launch and the next three are two_pass. Order 1 has no carries, so no second pass and no gradients of
// carries `dc`.
inline LaunchInfo first_pass(const Tensors& t) {
    return {.name = "first_pass",
            .meaning = "Multiplies every block of u with the transfer matrix of its gates.",
            .reads = {t.a, t.u, t.carry0},
            .writes = {t.x, t.carry},
            .work = {.operations = product(t)}};
}

// `into_first` is what a scan of the carries starts with, if it is not the first carry of the array.
inline LaunchInfo second_pass(const Tensors& t, const Buffer& into_first = {}) {
    const bool scans = t.order == Order::full;
    return {.name = "second_pass",
            .meaning = scans ? "Scans the carries, then adds the carry of each block times its gates."
                             : "Adds the carry of each block times its gates.",
            .reads = {t.a, t.x, t.carry, scans ? into_first : Buffer()},
            .writes = {t.x, scans ? t.carry : Buffer()},
            .work = {.operations = 2 * numbers(t)}};
}

inline LaunchInfo first_gradient_pass(const Tensors& t, const Buffer& dc) {
    return {.name = "first_gradient_pass",
            .meaning = "Computes the gradient of every carry from its own block.",
            .reads = {t.a, t.dx},
            .writes = {dc},
            .work = {.operations = 2 * numbers(t)}};
}

inline LaunchInfo second_gradient_pass(const Tensors& t, const Buffer& dc) {
    const bool scans = t.order == Order::full;
    return {.name = "second_gradient_pass",
            .meaning = scans
                           ? "Scans the gradients of the carries from the end, then computes those of gates "
                             "and inputs."
                           : "Computes the gradients of gates and inputs.",
            .reads = {t.a, t.u, t.dx, t.carry, dc},
            .writes = {t.da_of_sequences, t.du, t.dcarry0},
            .work = {.operations = 2 * product(t) + 6 * numbers(t)}};
}

inline LaunchInfo fused(const Tensors& t) {
    return {.name = "fused",
            .meaning = "Multiplies every block with its transfer matrix and adds its carry at once.",
            .reads = {t.a, t.u, t.carry0},
            .writes = {t.x, t.carry},
            .work = {.operations = product(t) + 2 * numbers(t)}};
}

inline LaunchInfo gradients(const Tensors& t) {
    return {.name = "gradients",
            .meaning = "Computes the gradients of gates and inputs in one pass over the blocks.",
            .reads = {t.a, t.u, t.dx, t.carry},
            .writes = {t.da_of_sequences, t.du, t.dcarry0},
            .work = {.operations = 2 * product(t) + 8 * numbers(t)}};
}

// Where the batch shares its gates, this launch follows the one that computes da of every sequence.
inline LaunchInfo sum_of_sequences(const Tensors& t) {
    return {.name = "sum_of_sequences",
            .meaning = "Adds the gradients of the gates over the sequences, which share them.",
            .reads = {t.da_of_sequences},
            .writes = {t.da},
            .work = {.operations = static_cast<double>(t.heads * t.length)}};
}

}  // namespace sawtooth::btp

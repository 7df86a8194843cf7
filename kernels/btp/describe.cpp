#include "kernels/btp/describe.h"

#include "kernels/btp/sizes.h"
#include "kernels/core/launch_info.h"
#include "kernels/core/storage.h"

namespace sawtooth::btp::describe {
namespace {

struct Described : Sizes {
    explicit Described(const Parameters& p)
        : Sizes(p), order(order_of(p)), element(bytes_of(storage_named(p.text("dtype")))) {}

    ArrayUse gates() const { return {"a", {heads, length}, element}; }
    ArrayUse values(const char* name) const { return {name, {heads, width, length}, element}; }
    ArrayUse carries(const char* name) const { return {name, {heads, blocks(), width}}; }
    ArrayUse gate_gradients() const { return {"da", {heads, length}}; }
    ArrayUse state() const { return {"state", {2, heads, width}}; }
    double numbers() const { return static_cast<double>(rows() * length); }
    // Two operations for every pair of positions j <= i of a block.
    double product() const {
        const auto last = static_cast<double>(length % block), whole = static_cast<double>(length / block);
        const auto n = static_cast<double>(block);
        return static_cast<double>(rows()) * (whole * n * (n + 1) + last * (last + 1));
    }

    Order order;
    int64_t element;
};

}  // namespace

LaunchInfo token(const Parameters& p) {
    const Described d(p);
    const auto of_token = [&](const char* name) { return ArrayUse{name, {d.heads, d.width}, d.element}; };
    const ArrayUse gates = {"a", {d.heads}, d.element}, carries = {"carry", {d.heads, d.width}};
    return launch_info("token", "Moves the state of every channel by one token.", {gates, of_token("u")},
                       {of_token("x"), carries, d.state()}, 4 * static_cast<double>(d.rows()));
}

LaunchInfo decode(const Parameters& p) {
    const Described d(p);
    return launch_info("decode", "Steps through the tokens with the state of every channel in registers.",
                       {d.gates(), d.values("u")}, {d.values("x"), d.carries("carry")}, 4 * d.numbers());
}

LaunchInfo first_pass(const Parameters& p) {
    const Described d(p);
    return launch_info("first_pass", "Multiplies every block of u with the transfer matrix of its gates.",
                       {d.gates(), d.values("u")}, {d.values("x"), d.carries("carry")}, d.product());
}

LaunchInfo second_pass(const Parameters& p) {
    const Described d(p);
    return launch_info(
        "second_pass",
        d.order == Order::full ? "Scans the carries, then adds the carry of each block times its gates."
                               : "Adds the carry of each block times its gates.",
        {d.gates(), d.values("x"), d.carries("carry")}, {d.values("x"), d.carries("carry")}, 2 * d.numbers());
}

LaunchInfo first_gradient_pass(const Parameters& p) {
    const Described d(p);
    return launch_info("first_gradient_pass", "Computes the gradient of every carry from its own block.",
                       {d.gates(), d.values("dx")}, {d.carries("dc")}, 2 * d.numbers());
}

LaunchInfo second_gradient_pass(const Parameters& p) {
    const Described d(p);
    Uses reads = {d.gates(), d.values("u"), d.values("dx"), d.carries("carry")};
    if (d.order != Order::one) reads.push_back(d.carries("dc"));
    return launch_info(
        "second_gradient_pass",
        d.order == Order::full ? "Scans the gradients of the carries from the end, then computes "
                                 "those of gates and inputs."
                               : "Computes the gradients of gates and inputs.",
        std::move(reads), {d.gate_gradients(), d.values("du")}, 2 * d.product() + 6 * d.numbers());
}

LaunchInfo fused(const Parameters& p) {
    const Described d(p);
    return launch_info("fused", "Multiplies every block with its transfer matrix and adds its carry at once.",
                       {d.gates(), d.values("u")}, {d.values("x"), d.carries("carry")},
                       d.product() + 2 * d.numbers());
}

LaunchInfo gradients(const Parameters& p) {
    const Described d(p);
    return launch_info("gradients", "Computes the gradients of gates and inputs in one pass over the blocks.",
                       {d.gates(), d.values("u"), d.values("dx"), d.carries("carry")},
                       {d.gate_gradients(), d.values("du")}, 2 * d.product() + 8 * d.numbers());
}

}  // namespace sawtooth::btp::describe

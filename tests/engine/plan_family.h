#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// A family for tests of plan builders, with an input x, an output y [100, 10], and an extra output.
inline const Family& plan_family() {
    static const Family family = [] {
        const auto shape = [](const Parameters&, const Arrays&) { return Shape{100, 10}; };
        Family made;
        made.name = "plan";
        made.arrays = {
            {.name = "x", .meaning = "An input.", .shape = shape},
            {.name = "y", .meaning = "An output.", .role = Role::output, .shape = shape},
            {.name = "more", .meaning = "An extra.", .role = Role::output, .shape = shape, .extra = true}};
        made.variants = {{.name = "one", .idea = "Adds.", .outputs = {"y", "more"}}};
        return made;
    }();
    return family;
}

}  // namespace sawtooth

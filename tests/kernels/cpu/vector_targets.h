#pragma once

#include <hwy/highway.h>

#include "tests/kit/catch.h"

namespace sawtooth {

// Calls body() once for each vector target of the program that this processor supports (SSSE3, AVX2, AVX3),
// with Highway restricted to it.
template <class Body>
void for_each_vector_target(Body&& body) {
    struct Restore {
        ~Restore() { hwy::SetSupportedTargetsForTest(0); }
    } restore;
    for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        INFO("vectors of " << hwy::TargetName(target));
        body();
    }
}

}  // namespace sawtooth

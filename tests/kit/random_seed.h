#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/random.h"

namespace sawtooth {

// SAWTOOTH_RANDOM_SEED, or two of them; printed on first use.
const std::vector<uint64_t>& random_seeds();
// The first, for tests that draw from one.
uint64_t random_seed();
// Number of random cases, such as settings per variant: SAWTOOTH_RANDOM_SETTINGS, or a few.
int random_settings();

}  // namespace sawtooth

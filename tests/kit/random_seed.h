#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/random.h"

namespace sawtooth {

// The seeds of SAWTOOTH_RANDOM_SEED, or two random ones; printed on first use.
const std::vector<uint64_t>& random_seeds();
// The first seed, for tests that need only one.
uint64_t random_seed();
// The number of random cases, such as settings per variant: SAWTOOTH_RANDOM_SETTINGS, or a few.
int random_settings();

}  // namespace sawtooth

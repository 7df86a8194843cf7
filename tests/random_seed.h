#pragma once

#include <cstdint>

#include "kernels/core/random.h"

namespace sawtooth {

// SAWTOOTH_RANDOM_SEED, or a new one per process; printed on first use.
uint64_t random_seed();
// Number of random cases, such as settings per variant: SAWTOOTH_RANDOM_SETTINGS, or a few.
int random_settings();

int64_t below(Random& random, int64_t limit);  // 0 to limit - 1

}  // namespace sawtooth

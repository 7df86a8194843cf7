#pragma once

#include <string_view>
#include <vector>

#include "kernels/core/chip.h"
#include "kernels/core/refusal.h"

namespace sawtooth::cuda {

// One chip of every architecture that kernels are compiled for, with the limits of its SMs: sm_80, 86, 89,
// 90a, 100, 120.
const std::vector<Chip>& known_chips();

// The chip of an architecture, with or without the letter ("sm_90", "sm_90a"). The usage error lists the
// known ones.
Outcome<Chip> chip_of(std::string_view architecture);

}  // namespace sawtooth::cuda

#pragma once

#include "kernels/memory/tiles.h"

namespace sawtooth::memory {

// Trellis in chunks: two chains, as the keys of the value slots are what the key slots give. Errors of both
// are those at the chunk's boundary.
void add_trellis_launches(Plan& plan, const Job& job, Range tokens, Pulse pulse, float* room);
int64_t trellis_room(const Job& job, Range tokens, Pulse pulse);

}  // namespace sawtooth::memory

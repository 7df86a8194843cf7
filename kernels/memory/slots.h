#pragma once

#include "kernels/memory/tiles.h"

namespace sawtooth::memory {

// Lattice in chunks: gates g and s . v of a whole chunk against its boundary slots s, in matrix products.
//   sums        x_t = x_(t-1) + g (v - (s . v) s), s_t = normalise(x_t): chunkwise_gd
//   linearised  x_t = (1 - g (s . v)) x_(t-1) + g v, s_t = normalise(x_t): lattice_gla
enum class SlotUpdate { sums, linearised };

void add_slot_launches(Plan& plan, const Job& job, Range tokens, Pulse pulse, SlotUpdate update, float* room);
int64_t slot_room(const Job& job, Range tokens, Pulse pulse);

}  // namespace sawtooth::memory

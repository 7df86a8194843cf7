#pragma once

#include "kernels/core/array.h"
#include "kernels/core/random.h"
#include "kernels/core/request.h"
#include "kernels/core/storage.h"

namespace sawtooth {

// Places such numbers among those of a generated input; integers stay unchanged. `chosen` marks the one input
// that gets the infinity or the NaN.
void place_values(Values values, Array& input, bool chosen, Storage storage, Random random);

}  // namespace sawtooth

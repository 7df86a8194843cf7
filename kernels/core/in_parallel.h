#pragma once

#include <cstdint>
#include <functional>

namespace sawtooth {

// Calls each(i) for 0 … count - 1, once each and in any order, on all cores or as many as have a thread. For
// references in float64: not with Noisy, whose roundings follow the order of operations on one thread.
void in_parallel(int64_t count, const std::function<void(int64_t)>& each);

}  // namespace sawtooth

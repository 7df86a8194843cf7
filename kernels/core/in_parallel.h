#pragma once

#include <cstdint>
#include <functional>

namespace sawtooth {

// The cores of this machine; 1 if they cannot be counted.
int core_count();

// Calls each(i) once for each i = 0 … count - 1, in any order, on all cores, or on fewer if no more threads
// can start. For references in float64, but not with Noisy, whose roundings depend on the order of operations
// on one thread.
void in_parallel(int64_t count, const std::function<void(int64_t)>& each);

}  // namespace sawtooth

#pragma once

#include <cstdint>
#include <vector>

namespace sawtooth::cpu {

// Scratch that a worker keeps between items: at least `count` numbers, not initialised.
template <class T>
T* at_least(std::vector<T>& values, int64_t count) {
    if (static_cast<int64_t>(values.size()) < count) values.resize(static_cast<size_t>(count));
    return values.data();
}

}  // namespace sawtooth::cpu

#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/scratch.h"

namespace sawtooth::lut {

// What a worker keeps between items.
template <class Sum>
struct Scratch {
    std::vector<const float*> rows;
    std::vector<Sum> sums;
    std::vector<float> floats;
    std::vector<int64_t> starts;

    static Scratch& of_thread() {
        thread_local Scratch scratch;
        return scratch;
    }

    Sum* zeros(int64_t count) {
        Sum* const values = cpu::at_least(sums, count);
        std::fill_n(values, count, Sum{0});
        return values;
    }
};

}  // namespace sawtooth::lut

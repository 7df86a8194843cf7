#pragma once

#include <cstddef>
#include <span>
#include <stop_token>

namespace sawtooth {

// Sets values[i] = next() in order. After a stop it returns early and leaves the rest unchanged.
template <class Number, class Next>
void fill(std::span<Number> values, const std::stop_token& stop, Next&& next) {
    constexpr size_t between_looks = size_t{1} << 20;
    for (size_t i = 0; i < values.size(); ++i) {
        if (i % between_looks == 0 && stop.stop_requested()) return;
        values[i] = static_cast<Number>(next());
    }
}

}  // namespace sawtooth

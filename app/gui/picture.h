#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth {

struct Picture {
    int width = 0, height = 0;
    std::vector<uint8_t> rgb;  // row-major, the top row first
};

// Whole or not at all.
std::optional<Error> write_png(const std::string& path, const Picture& picture);

}  // namespace sawtooth

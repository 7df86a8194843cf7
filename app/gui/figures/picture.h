#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth {

struct Picture {
    int width = 0, height = 0;
    std::vector<uint8_t> rgb;  // row-major, top row first
};

// Writes the complete file or leaves it unchanged.
std::optional<Error> write_png(const std::string& path, const Picture& picture);

}  // namespace sawtooth

#pragma once

#include <cstdint>
#include <vector>

namespace sawtooth {

// The icon of assets/icon/sawtooth.svg for a window, `size` pixels wide and high, as RGBA.
std::vector<uint8_t> icon_pixels(int size);

}  // namespace sawtooth

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::cli {

// The name that a typing error most likely stood for; "" where none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& names);

}  // namespace sawtooth::cli

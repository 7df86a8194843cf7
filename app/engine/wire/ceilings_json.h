#pragma once

#include <optional>
#include <string>

#include "kernels/core/result.h"

namespace sawtooth {

// The ceilings of a machine as cached between runs; reading returns nullopt for any other file.
std::string ceilings_json(const Ceilings& ceilings);
std::optional<Ceilings> parse_ceilings(const std::string& text);

}  // namespace sawtooth

#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// "" for the defaults, then every preset.
inline std::vector<std::string> preset_names(const Family& family) {
    std::vector<std::string> names = {""};
    for (const Preset& preset : family.presets) names.push_back(preset.name);
    return names;
}

}  // namespace sawtooth

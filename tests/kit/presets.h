#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// The names of all presets, after "" for the defaults.
inline std::vector<std::string> preset_names(const Family& family) {
    std::vector<std::string> names = {""};
    for (const Preset& preset : family.presets) names.push_back(preset.name);
    return names;
}

}  // namespace sawtooth

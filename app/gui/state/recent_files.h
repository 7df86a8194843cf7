#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

constexpr size_t most_recent_files = 8;

// Puts the file in front of the recent ones, by its absolute path. Without effect for a path of several
// lines, which the settings file cannot hold.
void add_recent_file(WindowSettings& settings, const std::string& path);

}  // namespace sawtooth

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/gui/lab_state.h"

namespace sawtooth {

// Kept in config_directory(): `settings` and `lab` (lines of "name = value") and `layout.ini` (Dear ImGui's
// own). A file that is not understood is set aside as FILE.bad with a line in the log.
void load_settings(LabState& lab, const std::string& directory);
// Restores what was left in the window, where something is kept.
void load_lab(LabState& lab, const std::string& directory);
// The text for Dear ImGui; "" where none is kept.
std::string load_layout(LabState& lab, const std::string& directory);

// What cannot be written is noted once and hinders nothing.
void save_settings(LabState& lab, const std::string& directory);
void save_lab(LabState& lab, const std::string& directory);
void save_layout(LabState& lab, const std::string& directory, std::string_view layout);

// Gives `take` every line "name = value"; false where a line is none, or `take` does not accept it.
bool for_each_setting(std::string_view text,
                      const std::function<bool(std::string_view name, std::string_view value)>& take);

std::string settings_text(const Settings& settings);
std::optional<Settings> parse_settings(std::string_view text);

}  // namespace sawtooth

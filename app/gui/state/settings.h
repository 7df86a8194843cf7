#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Loads the files in config_directory(): `settings` and `lab` (lines of "name = value") and `layout.ini` (of
// Dear ImGui). Lines that cannot be used, for example because they come from another machine or a newer
// version, are noted in the Log and skipped; a file of another kind is renamed to FILE.bad.
void load_settings(LabState& lab, const std::string& directory);
// Restores the saved state of the window, if any; without `all`, only that of the families not shown.
void load_lab(LabState& lab, const std::string& directory, bool all = true);
// The layout for Dear ImGui; "" if none is saved. It may still be damaged: SavedLayout tries it.
std::string load_layout(LabState& lab, const std::string& directory);
// Renames the layout file and says why in the Log: "is invalid".
void set_layout_aside(LabState& lab, const std::string& directory, const std::string& why);

// Saves in the background. A failure to write is noted once and has no other effect.
void save_settings(LabState& lab, const std::string& directory);
void save_lab(LabState& lab, const std::string& directory);
void save_layout(LabState& lab, const std::string& directory, std::string_view layout);

// The lines "name = value" that `take` accepted, and all the others.
struct TakenLines {
    int taken = 0;
    std::vector<std::string> skipped;
};
TakenLines take_lines(std::string_view text,
                      const std::function<bool(std::string_view name, std::string_view value)>& take);

std::string settings_text(const WindowSettings& settings);
TakenLines read_settings(std::string_view text, WindowSettings& settings);

}  // namespace sawtooth

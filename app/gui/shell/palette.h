#pragma once

#include <string_view>
#include <vector>

#include "app/gui/shell/actions.h"

namespace sawtooth {

// Opens the list of all actions, filtered by what is typed; closes the list if it is open.
void open_palette(LabState& lab);
void draw_palette(LabState& lab);

// The actions that contain every typed word in their group, name or details. First come those whose name
// begins with the typed text, then those in which each typed word begins a word.
std::vector<const Action*> matches(const LabState& lab, const std::vector<Action>& all,
                                   std::string_view typed);

}  // namespace sawtooth

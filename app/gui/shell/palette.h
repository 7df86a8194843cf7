#pragma once

#include <string_view>
#include <vector>

#include "app/gui/shell/actions.h"

namespace sawtooth {

// Opens the list of everything that can be done, filtered by what is typed; closes it if it is open.
void open_palette(LabState& lab);
void draw_palette(LabState& lab);

// The actions whose group, name or details have every typed word somewhere; those first whose name begins
// with what is typed, then those where each typed word begins one.
std::vector<const Action*> matches(const LabState& lab, const std::vector<Action>& all,
                                   std::string_view typed);

}  // namespace sawtooth

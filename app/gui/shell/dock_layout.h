#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Call before the dock space is drawn with that size. Builds the default layout, in fractions of the size, at
// the start, on "Reset layout", and once size or scale have changed, unless the user has docked or resized
// panels. The tabs in front stay in front.
void build_layout_if_due(LabState& lab, ImGuiID dock_space, ImVec2 size);
// Call after it is drawn: notices panels that the user docks or resizes.
void follow_layout(LabState& lab, ImVec2 size);

// Whether the panel is the only one of its dock, so that it is in sight.
bool has_own_dock(const char* panel);

// The first panel that a saved layout does not place; "" if it places all.
std::string unknown_panel(std::string_view layout);

}  // namespace sawtooth

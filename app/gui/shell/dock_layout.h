#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Arranges the panels in another way. An own layout of the user returns with its arrangement.
void arrange(LabState& lab, Arrangement arrangement);
// Loads the layout that `arrange` has chosen. Call between frames.
void load_layout_if_due(LabState& lab);
// Builds the default layout, in fractions of the size: at the start, after "Reset layout", and when size or
// scale have changed, unless the user has docked or resized panels. The tabs in front stay in front. Call
// before the dock space is drawn; it may be smaller than `size`.
void build_layout_if_due(LabState& lab, ImGuiID dock_space, ImVec2 size);
// Notices panels that the user docks or resizes. Call after the dock space is drawn.
void follow_layout(LabState& lab, ImVec2 size);

// Returns whether the panel is the only one in its dock, so that it is visible.
bool has_own_dock(const char* panel);

// The first panel that a saved layout does not place; "" if it places all of them.
std::string unknown_panel(std::string_view layout);

}  // namespace sawtooth

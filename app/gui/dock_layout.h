#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace sawtooth {

// Puts every panel into its place in a new layout, in fractions of the size: side by side if there is room,
// otherwise as tabs.
void build_layout(ImGuiID dock_space, ImVec2 size);

// The first panel that a saved layout does not place; "" if it places all.
std::string unknown_panel(std::string_view layout);

}  // namespace sawtooth

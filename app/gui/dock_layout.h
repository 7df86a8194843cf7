#pragma once

#include <imgui.h>

namespace sawtooth {

// Puts every panel into its place in a new layout, in fractions of the size: side by side if there is room,
// otherwise as tabs.
void build_layout(ImGuiID dock_space, ImVec2 size);

}  // namespace sawtooth

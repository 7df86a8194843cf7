#pragma once

#include <imgui.h>

namespace sawtooth {

// Puts every panel into its place of a fresh layout, in fractions of the size: beside each other where there
// is room, else as tabs.
void build_layout(ImGuiID dock_space, ImVec2 size);

}  // namespace sawtooth

#include "app/gui/dock_layout.h"

#include <imgui_internal.h>

#include <algorithm>
#include <map>

#include "app/gui/appearance.h"
#include "app/gui/panels.h"

namespace sawtooth {
namespace {

constexpr float three_columns = 1060;  // units; below it the right column goes into the middle as tabs
constexpr float two_middles = 520;     // units of height; below it the error is a tab beside the outputs

float share_of(float wanted, float whole, float least, float most) {
    return std::clamp(units(wanted) / std::max(whole, 1.0f), least, most);
}

ImGuiID split(ImGuiID& node, ImGuiDir direction, float share) {
    return ImGui::DockBuilderSplitNode(node, direction, share, nullptr, &node);
}

}  // namespace

void build_layout(ImGuiID dock_space, ImVec2 size) {
    ImGui::DockBuilderRemoveNode(dock_space);
    ImGui::DockBuilderAddNode(dock_space, ImGuiDockNodeFlags_DockSpace);
    ImGui::DockBuilderSetNodeSize(dock_space, size);
    ImGuiID middle = dock_space;
    std::map<Dock, ImGuiID> nodes;
    nodes[Dock::bottom] = split(middle, ImGuiDir_Down, share_of(200, size.y, 0.2f, 0.3f));
    const float above = size.y - units(200);
    nodes[Dock::left] = split(middle, ImGuiDir_Left, share_of(300, size.x, 0.15f, 0.42f));
    if (size.x >= units(three_columns)) {
        nodes[Dock::right_top] = split(middle, ImGuiDir_Right, share_of(380, size.x, 0.2f, 0.36f));
        nodes[Dock::right_bottom] = split(nodes[Dock::right_top], ImGuiDir_Down, 0.45f);
    }
    if (above >= units(two_middles)) nodes[Dock::centre_bottom] = split(middle, ImGuiDir_Down, 0.5f);
    nodes[Dock::centre_top] = middle;
    for (const Panel& panel : panels()) {
        const auto own = nodes.find(panel.dock);
        ImGui::DockBuilderDockWindow(panel.name, own != nodes.end() ? own->second : middle);
    }
    ImGui::DockBuilderFinish(dock_space);
}

}  // namespace sawtooth

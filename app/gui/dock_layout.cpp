#include "app/gui/dock_layout.h"

#include <imgui_internal.h>

#include <algorithm>
#include <map>

#include "app/gui/appearance.h"
#include "app/gui/panels.h"

namespace sawtooth {
namespace {

// In units. Below these sizes, panels that do not fit become tabs of the middle, or of the panel above.
constexpr float three_columns = 1060, timeline_below = 800, about_below = 800;

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
    ImVec2 room = size;
    const auto take = [&](Dock dock, ImGuiDir direction, float share) {
        nodes[dock] = split(middle, direction, share);
        (direction == ImGuiDir_Down ? room.y : room.x) *= 1 - share;
    };
    if (size.y >= units(timeline_below)) {
        const float height = 176 + 0.2f * std::max(size.y / units(1) - 860, 0.0f);
        take(Dock::bottom, ImGuiDir_Down, share_of(height, size.y, 0.1f, 0.3f));
    }
    take(Dock::left, ImGuiDir_Left, share_of(288, size.x, 0.12f, 0.42f));
    if (size.x >= units(three_columns)) {
        take(Dock::right_top, ImGuiDir_Right,
             share_of(size.x < units(1500) ? 368 : 408, room.x, 0.15f, 0.4f));
        const bool has_about = size.y >= units(about_below);
        nodes[Dock::right_middle] = split(nodes[Dock::right_top], ImGuiDir_Down, has_about ? 0.64f : 0.55f);
        nodes[Dock::right_bottom] = nodes[Dock::right_middle];
        if (has_about) nodes[Dock::right_bottom] = split(nodes[Dock::right_middle], ImGuiDir_Down, 0.48f);
    }
    nodes[Dock::centre] = middle;
    for (const Panel& panel : panels()) {
        const auto own = nodes.find(panel.dock);
        ImGui::DockBuilderDockWindow(panel.name, own != nodes.end() ? own->second : middle);
    }
    ImGui::DockBuilderFinish(dock_space);
}

std::string unknown_panel(std::string_view layout) {
    for (const Panel& panel : panels())
        if (layout.find(std::string("[Window][") + panel.name + "]\n") == layout.npos) return panel.name;
    return "";
}

}  // namespace sawtooth

#include "app/gui/dock_layout.h"

#include <imgui_internal.h>

#include <algorithm>
#include <map>

#include "app/gui/appearance.h"
#include "app/gui/panels.h"

namespace sawtooth {
namespace {

// In units. Below these sizes what does not fit becomes tabs of the middle.
constexpr float three_columns = 1060, two_rows = 480;
constexpr float stacked_middle = 520,
                wide_middle = 800;  // height, or else width, for two panels in the middle

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
    if (size.y >= units(two_rows)) take(Dock::bottom, ImGuiDir_Down, share_of(200, size.y, 0.2f, 0.3f));
    take(Dock::left, ImGuiDir_Left, share_of(320, size.x, 0.15f, 0.42f));
    if (size.x >= units(three_columns)) {
        take(Dock::right_top, ImGuiDir_Right,
             std::min(share_of(352, size.x, 0.2f, 0.3f) * size.x / room.x, 0.4f));
        nodes[Dock::right_bottom] = split(nodes[Dock::right_top], ImGuiDir_Down, 0.4f);
    }
    if (room.y >= units(stacked_middle))
        take(Dock::centre_bottom, ImGuiDir_Down, 0.5f);
    else if (room.x >= units(wide_middle))
        take(Dock::centre_bottom, ImGuiDir_Right, 0.5f);
    nodes[Dock::centre_top] = middle;
    for (const Panel& panel : panels()) {
        const auto own = nodes.find(panel.dock);
        ImGui::DockBuilderDockWindow(panel.name, own != nodes.end() ? own->second : middle);
    }
    ImGui::DockBuilderFinish(dock_space);
}

}  // namespace sawtooth

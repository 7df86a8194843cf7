#include "app/gui/shell/dock_layout.h"

#include <imgui_internal.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/layout_trial.h"

namespace sawtooth {
namespace {

// Sizes in units. Below them, panels that do not fit become tabs of the middle, or of the panel above.
constexpr float three_columns = 1000, timeline_below = 1000, about_below = 140, numbers_below = 340;

float share_of(float wanted, float whole, float least, float most) {
    return std::clamp(units(wanted) / std::max(whole, 1.0f), least, most);
}

ImGuiID split(ImGuiID& node, ImGuiDir direction, float share) {
    return ImGui::DockBuilderSplitNode(node, direction, share, nullptr, &node);
}

// Docks Times over Occupancy over About. Numbers is between them if all fit, otherwise behind Occupancy.
void split_right(std::map<Dock, ImGuiID>& nodes, ImGuiID column, float height) {
    const float whole = height / units(1);
    const float times = std::clamp(0.285f * whole, 244.0f, 350.0f);
    const float occupancy = std::clamp(0.25f * whole, 226.0f, 300.0f);
    const float rest = whole - times - occupancy;
    nodes[Dock::times] = column;
    if (rest < about_below) {
        nodes[Dock::occupancy] = split(nodes[Dock::times], ImGuiDir_Down, 0.5f);
        nodes[Dock::numbers] = nodes[Dock::about] = nodes[Dock::occupancy];
        return;
    }
    nodes[Dock::occupancy] = split(nodes[Dock::times], ImGuiDir_Down, 1 - times / whole);
    nodes[Dock::about] = split(nodes[Dock::occupancy], ImGuiDir_Down, rest / (occupancy + rest));
    nodes[Dock::numbers] = nodes[Dock::occupancy];
    if (rest < numbers_below) return;
    nodes[Dock::numbers] = nodes[Dock::about];
    nodes[Dock::about] = split(nodes[Dock::numbers], ImGuiDir_Down, rest < 480 ? 0.42f : 0.52f);
}

// Compare: Numbers is above the panels of times. Timeline is a tab of the figures.
std::map<Dock, ImGuiID> make_nodes_of_compare(ImGuiID middle, ImVec2 size) {
    std::map<Dock, ImGuiID> nodes;
    const float left = std::clamp(0.18f * size.x / units(1), 224.0f, 288.0f);
    const float left_share = share_of(left, size.x, 0.12f, 0.42f);
    nodes[Dock::left] = split(middle, ImGuiDir_Left, left_share);
    if (size.x / units(1) >= three_columns) {
        nodes[Dock::numbers] = split(middle, ImGuiDir_Right, 0.48f);
        const float numbers = share_of(320, size.y, 0.2f, 0.5f);
        nodes[Dock::times] = split(nodes[Dock::numbers], ImGuiDir_Down, 1 - numbers);
        nodes[Dock::occupancy] = nodes[Dock::about] = nodes[Dock::times];
    }
    nodes[Dock::centre] = middle;
    return nodes;
}

std::map<Dock, ImGuiID> make_nodes(ImGuiID dock_space, ImVec2 size, Arrangement arrangement) {
    ImGui::DockBuilderRemoveNode(dock_space);
    ImGui::DockBuilderAddNode(dock_space, ImGuiDockNodeFlags_DockSpace);
    ImGui::DockBuilderSetNodeSize(dock_space, size);
    ImGuiID middle = dock_space;
    if (arrangement == Arrangement::compare) return make_nodes_of_compare(middle, size);
    std::map<Dock, ImGuiID> nodes;
    ImVec2 room = size;
    const auto take = [&](Dock dock, ImGuiDir direction, float share) {
        nodes[dock] = split(middle, direction, share);
        (direction == ImGuiDir_Down ? room.y : room.x) *= 1 - share;
    };
    const float width = size.x / units(1), height = size.y / units(1);
    if (height >= timeline_below)
        take(Dock::bottom, ImGuiDir_Down, share_of(0.19f * height, size.y, 0.1f, 0.3f));
    take(Dock::left, ImGuiDir_Left,
         share_of(std::clamp(0.225f * width, 224.0f, 288.0f), size.x, 0.12f, 0.42f));
    if (width >= three_columns) {
        const float right = width < 1500 ? std::clamp(0.2875f * width, 300.0f, 368.0f)
                                         : std::clamp(0.255f * width, 400.0f, 560.0f);
        take(Dock::times, ImGuiDir_Right, share_of(right, room.x, 0.15f, 0.4f));
        split_right(nodes, nodes[Dock::times], room.y);
    }
    nodes[Dock::centre] = middle;
    return nodes;
}

// The panels in front, in the order of the table of panels.
std::vector<const Panel*> panels_in_front() {
    std::vector<const Panel*> found;
    for (const Panel& panel : panels()) {
        const ImGuiWindow* const window = ImGui::FindWindowByName(panel.name);
        if (window && window->DockTabIsVisible) found.push_back(&panel);
    }
    return found;
}

void build_layout(ImGuiID dock_space, ImVec2 size, Arrangement arrangement) {
    const auto in_front = panels_in_front();
    const auto nodes = make_nodes(dock_space, size, arrangement);
    const auto place_of = [&](const Panel& panel) {
        const auto own = nodes.find(panel.dock);
        return own != nodes.end() ? own->second : nodes.at(Dock::centre);
    };
    for (const Panel& panel : panels()) ImGui::DockBuilderDockWindow(panel.name, place_of(panel));
    // If several panels meet in one dock, the first one is in front.
    for (size_t i = in_front.size(); i-- > 0;)
        ImGui::DockBuilderGetNode(place_of(*in_front[i]))->SelectedTabId =
            ImGui::FindWindowByName(in_front[i]->name)->TabId;
    ImGui::DockBuilderFinish(dock_space);
}

// Where every panel is docked, with the size of that dock.
std::vector<std::array<double, 3>> places() {
    std::vector<std::array<double, 3>> found;
    for (const Panel& panel : panels()) {
        const ImGuiWindow* const window = ImGui::FindWindowByName(panel.name);
        const ImGuiDockNode* const node = window ? window->DockNode : nullptr;
        const ImVec2 size = node ? node->Size : ImVec2();
        found.push_back({window ? static_cast<double>(window->DockId) : 0.0, static_cast<double>(size.x),
                         static_cast<double>(size.y)});
    }
    return found;
}

}  // namespace

void arrange(LabState& lab, Arrangement arrangement) {
    if (arrangement == lab.settings.arrangement) return;
    LabState::Layout& layout = lab.layout;
    if (lab.settings.own_layout) layout.own[lab.settings.arrangement] = ImGui::SaveIniSettingsToMemory();
    lab.settings.arrangement = arrangement;
    const auto own = layout.own.extract(arrangement);
    if (own)
        layout.next = own.mapped();
    else
        lab.rebuild_layout = true;
}

void load_layout_if_due(LabState& lab) {
    if (lab.layout.next.empty()) return;
    use_layout(lab, std::exchange(lab.layout.next, ""));
    lab.layout.frames = 0;
    lab.layout.places.clear();
}

void build_layout_if_due(LabState& lab, ImGuiID dock_space, ImVec2 size) {
    LabState::Layout& layout = lab.layout;
    const ImVec2 window = ImGui::GetMainViewport()->WorkSize;
    const std::array<double, 3> now{static_cast<double>(window.x), static_cast<double>(window.y),
                                    drawn_scale(lab)};
    // Nothing is built while the window is dragged, because panels would flicker. Texts get a new scale one
    // frame late.
    const bool is_at_rest = now == std::exchange(layout.last, now);
    const bool is_new = lab.rebuild_layout || !ImGui::DockBuilderGetNode(dock_space);
    const bool fits = now == layout.built_for || lab.settings.own_layout;
    if (!is_new && (fits || !is_at_rest)) return;
    if (is_new) {
        lab.settings.own_layout = false;
        lab.shows_story = true;
    }
    build_layout(dock_space, size, lab.settings.arrangement);
    lab.rebuild_layout = false;
    layout.built_for = now;
    layout.frames = 0;
}

void follow_layout(LabState& lab, ImVec2 size) {
    LabState::Layout& layout = lab.layout;
    std::vector<std::array<double, 3>> now = places();
    now.push_back({0, static_cast<double>(size.x), static_cast<double>(size.y)});
    const bool same_size = !layout.places.empty() && layout.places.back() == now.back();
    if (++layout.frames > frames_to_settle && same_size && now != layout.places)
        lab.settings.own_layout = true;
    layout.places = std::move(now);
}

bool has_own_dock(const char* panel) {
    const ImGuiWindow* const window = ImGui::FindWindowByName(panel);
    return window && (!window->DockNode || window->DockNode->Windows.Size == 1);
}

std::string unknown_panel(std::string_view layout) {
    for (const Panel& panel : panels())
        if (layout.find(std::string("[Window][") + panel.name + "]\n") == layout.npos) return panel.name;
    return "";
}

}  // namespace sawtooth

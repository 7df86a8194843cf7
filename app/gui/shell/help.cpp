#include <imgui.h>

#include <algorithm>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/actions.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {
namespace {

constexpr const char* popup_name = "help";

using Rows = std::vector<std::pair<std::string, std::string>>;

// Keys of Dear ImGui and of plots, which belong to no action.
const Rows in_panels{{"Ctrl+Tab", "next panel"},
                     {"Tab, arrow keys", "move between controls and figures"},
                     {"Enter, Space", "type a value, press, open the menu of a figure"},
                     {"Menu, Shift+F10", "menu of a control, a figure or a table"},
                     {"W S, A D", "zoom, pan a figure with the focus or under the mouse"}};
const Rows by_mouse{{"Wheel, Shift+wheel", "zoom, pan a plot"},
                    {"Drag", "move a slider, pan a plot"},
                    {"Ctrl+click", "type a value: 2k, 4*1024, 2^20"},
                    {"Click", "select a launch; set the parameters of a point or cell"},
                    {"Shift+drag", "measure a range of time over launches"},
                    {"Double click", "show all of a plot; on a title, fill the panel"},
                    {"Right click", "menu of a control, a figure or a table"},
                    {"Drop a file", "open it as a session, or as inputs"}};

Rows of_actions() {
    Rows rows;
    for (const Action& each : actions())
        if (!each.keys.empty()) rows.emplace_back(keys_of(each), each.name);
    return rows;
}

void draw_rows(const char* title, const Rows& rows) {
    ImGui::PushFont(bold_font(), 0);
    ImGui::TextUnformatted(title);
    ImGui::PopFont();
    float keys = 0;
    for (const auto& [key, meaning] : rows) keys = std::max(keys, ImGui::CalcTextSize(key.c_str()).x);
    const float left = ImGui::GetCursorPosX();
    for (const auto& [key, meaning] : rows) {
        ImGui::TextUnformatted(key.c_str());
        ImGui::SameLine();
        ImGui::SetCursorPosX(left + keys + units(16));
        ImGui::TextDisabled("%s", meaning.c_str());
    }
    ImGui::Spacing();
}

// Draws the shortcuts, in two columns if there is room.
void draw_shortcuts(float room) {
    ImGui::BeginGroup();
    draw_rows("Everywhere", of_actions());
    ImGui::EndGroup();
    if (room > units(860)) ImGui::SameLine(0, units(40));
    ImGui::BeginGroup();
    draw_rows("In panels", in_panels);
    draw_rows("Mouse", by_mouse);
    ImGui::EndGroup();
}

}  // namespace

void draw_help(LabState& lab) {
    if (lab.wants_help) {
        if (!lab.help) lab.help = Help{"", "", true};
        ImGui::OpenPopup(popup_name);
    }
    const ImGuiViewport& window = *ImGui::GetMainViewport();
    if (lab.help && lab.help->lists_shortcuts)
        ImGui::SetNextWindowPos(window.GetCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
    const ImVec2 room = window.WorkSize;
    ImGui::SetNextWindowSizeConstraints({0, 0}, {room.x * 0.95f, room.y * 0.95f});
    if (!ImGui::BeginPopup(popup_name)) return;
    const Help& help = *lab.help;
    ImGui::PushTextWrapPos(units(help.lists_shortcuts ? 640 : 400));
    if (!help.title.empty()) {
        ImGui::PushFont(bold_font(), 0);
        ImGui::TextUnformatted(help.title.c_str());
        ImGui::PopFont();
    }
    if (!help.text.empty()) ImGui::TextUnformatted(help.text.c_str());
    if (!help.lists_shortcuts)
        ImGui::TextDisabled("F1 beside controls and figures: all shortcuts. %s: all actions.",
                            keys_of(action("All actions")).c_str());
    ImGui::PopTextWrapPos();
    if (help.lists_shortcuts) draw_shortcuts(room.x);
    ImGui::EndPopup();
}

}  // namespace sawtooth

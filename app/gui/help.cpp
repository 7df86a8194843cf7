#include <imgui.h>

#include "app/gui/appearance.h"
#include "app/gui/lab_state.h"
#include "app/gui/panels.h"

namespace sawtooth {
namespace {

constexpr const char* name = "help";
constexpr const char* keys[][2] = {
    {"F5, Shift+F5", "run, stop"},
    {"Ctrl+F", "filter parameters"},
    {"Ctrl+Z, Ctrl+Shift+Z", "undo, redo a change of the settings"},
    {"Ctrl+O", "open inputs"},
    {"Tab, arrow keys", "move between controls"},
    {"Ctrl+Tab", "move between panels"},
    {"Enter", "type a value"},
    {"W A S D", "zoom and pan the plot under the mouse"},
    {"Wheel, Shift+wheel", "zoom and pan likewise"},
    {"Shift+drag", "measure a range of time over launches"},
    {"Ctrl+plus, minus, 0", "text size"},
    {"F11", "full screen"},
    {"Esc", "close, clear a selection, back to all figures"},
};

void draw_keys() {
    if (!ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) return;
    for (const auto& [key, meaning] : keys) {
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(key);
        ImGui::TableNextColumn();
        ImGui::TextDisabled("%s", meaning);
    }
    ImGui::EndTable();
}

}  // namespace

void draw_help(LabState& lab) {
    if (lab.wants_help) {
        if (!lab.help) lab.help = Help{"Sawtooth", "Press F1 over a control, a figure or a panel."};
        ImGui::OpenPopup(name);
    }
    if (!ImGui::BeginPopup(name)) return;
    ImGui::PushTextWrapPos(units(400));
    if (!lab.help->title.empty()) {
        ImGui::PushFont(bold_font(), 0);
        ImGui::TextUnformatted(lab.help->title.c_str());
        ImGui::PopFont();
    }
    ImGui::TextUnformatted(lab.help->text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::Separator();
    draw_keys();
    ImGui::EndPopup();
}

}  // namespace sawtooth

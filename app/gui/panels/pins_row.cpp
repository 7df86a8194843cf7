#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/engine/tables/commands.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/actions.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/pins.h"
#include "viz/heading.h"
#include "viz/imgui/canvas_imgui.h"

namespace sawtooth {
namespace {

float sample_width() { return units(24); }

// Draws the dash of a pin in front of its name.
void draw_dash(const LabState& lab, int number) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    Stroke stroke = stroke_of({.role = Ink::Role::variant, .ghost = number}, theme_of(lab));
    stroke.colour = {theme_of(lab).text};
    const float y = corner.y + ImGui::GetFrameHeight() / 2;
    const Point ends[] = {{corner.x, y}, {corner.x + sample_width(), y}};
    canvas.path(ends, stroke);
    ImGui::Dummy({sample_width(), ImGui::GetFrameHeight()});
    ImGui::SameLine(0, units(4));
}

// Draws a pin within that width. Returns whether it was unpinned, after which it must not be used.
bool draw_pin(LabState& lab, const Pin& pin, const std::string& name, float width) {
    ImGui::PushID(static_cast<int>(pin.ticket));
    draw_dash(lab, pin.number);
    const std::string words = name + (&pin == baseline(lab) ? " (baseline)" : "");
    const float room =
        width - sample_width() - units(4) - ImGui::GetFrameHeight() - 2 * ImGui::GetStyle().FramePadding.x;
    if (ImGui::Button((elided_to(words, room) + "###bring back").c_str())) bring_back(lab, pin.ticket);
    tooltip(fmt::format("{}. A click sets these values and runs them:\n{}", words,
                        command_of(pin.result->request)));
    if (ImGui::BeginPopupContextItem("pin")) {
        if (ImGui::MenuItem("Baseline", nullptr, pin.is_baseline)) choose_baseline(lab, pin.ticket);
        tooltip("Numbers compares the shown result with it.");
        if (ImGui::MenuItem("Copy as command"))
            copy_text(lab, command_of(pin.result->request), "the command");
        ImGui::EndPopup();
    }
    ImGui::SameLine(0, 0);
    const bool removes = ImGui::Button("×###unpin", {ImGui::GetFrameHeight(), 0});
    tooltip("Unpin");
    ImGui::PopID();
    if (removes) unpin(lab, pin.ticket);
    return removes;
}

// Compare has nothing to compare with yet.
void draw_how_to_pin(LabState& lab) {
    const Action& pin = action("Pin the result");
    const std::string reason = reason_against(lab, pin);
    ImGui::BeginDisabled(!reason.empty());
    if (ImGui::Button("Pin the result")) perform(lab, pin);
    ImGui::EndDisabled();
    tooltip(reason.empty() ? pin.meaning : reason);
    ImGui::SameLine(0, units(12));
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    elided_text(
        "Figures then show it faded behind the results that follow, and Numbers compares them with it "
        "(Ctrl+B).",
        ImGui::GetContentRegionAvail().x);
    ImGui::PopStyleColor();
}

}  // namespace

float pins_row_height(const LabState& lab) {
    const bool is_shown = !lab.pins.empty() || lab.settings.arrangement == Arrangement::compare;
    return is_shown ? ImGui::GetFrameHeight() + units(8) : 0;
}

void draw_pins_row(LabState& lab) {
    ImGui::AlignTextToFramePadding();
    if (lab.pins.empty()) return draw_how_to_pin(lab);
    ImGui::TextDisabled("Pinned");
    tooltip("Results that figures show as faded lines, bars and tracks behind the newest one (Ctrl+B).");
    ImGui::SameLine(0, units(12));
    const std::vector<std::string> names = names_of_pins(lab);
    const float gap = units(16), rest = ImGui::GetContentRegionAvail().x;
    const float most = rest / static_cast<float>(lab.pins.size()) - gap;
    for (size_t i = 0; i < lab.pins.size(); ++i) {
        if (i > 0) ImGui::SameLine(0, gap);
        if (draw_pin(lab, lab.pins[i], names[i], most)) return;
    }
}

}  // namespace sawtooth

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/engine/tables/commands.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

constexpr const char *again = "Run again###again", *copy = "Copy as command", *away = "×###put away";

float buttons_width() {
    return button_width(again) + button_width(copy) + ImGui::GetFrameHeight() + 2 * units(8);
}

// The width of the text in a row of that width.
float text_room(float width) {
    return std::max(width - buttons_width() - ImGui::GetTextLineHeight() - units(32), units(120));
}

}  // namespace

float failure_row_height(const LabState& lab) {
    if (!lab.failure) return 0;
    const float room = text_room(ImGui::GetMainViewport()->WorkSize.x - 2 * units(12));
    const float text = ImGui::CalcTextSize(lab.failure->error.text.c_str(), nullptr, false, room).y;
    return std::max(text + ImGui::GetTextLineHeight() + units(4), ImGui::GetFrameHeight()) + units(16);
}

// Draws the complete error and the command that repeats the run.
void draw_failure_row(LabState& lab) {
    const Failure failure = *lab.failure;
    const float whole = ImGui::GetContentRegionAvail().x, room = text_room(whole);
    const float left = ImGui::GetCursorPosX(), top = ImGui::GetCursorPosY() + units(4);
    const std::string command = command_of(failure.request);
    ImGui::SetCursorPosY(top);
    problem_mark(lab);
    ImGui::SameLine(0, units(8));
    ImGui::BeginGroup();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {units(8), units(4)});
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + room);
    ImGui::TextUnformatted(failure.error.text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PushFont(number_font(), 0);
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    elided_text(command, room);
    ImGui::PopStyleColor();
    ImGui::PopFont();
    ImGui::PopStyleVar();
    ImGui::EndGroup();
    ImGui::SetCursorPos({left + whole - buttons_width(), top});
    if (ImGui::Button(again)) submit(lab);
    tooltip("Runs the current parameters (F5).");
    ImGui::SameLine(0, units(8));
    if (ImGui::Button(copy)) copy_text(lab, command, "the command");
    tooltip("Copies the command that repeats this run in a terminal.");
    ImGui::SameLine(0, units(8));
    if (ImGui::Button(away, {ImGui::GetFrameHeight(), 0})) lab.failure.reset();
    tooltip("Dismiss (kept in the Log)");
}

}  // namespace sawtooth

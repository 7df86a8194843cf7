#include <imgui.h>

#include <algorithm>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"

namespace sawtooth {
namespace {

constexpr const char *show = "Show", *copy = "Copy path", *away = "Dismiss", *title = "Crash report";

}  // namespace

float crash_row_height(const LabState& lab) { return lab.crash ? ImGui::GetFrameHeight() + units(8) : 0; }

void draw_crash_row(LabState& lab) {
    const float whole = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
    const float buttons = button_width(show) + button_width(copy) + button_width(away) + 2 * units(8);
    ImGui::AlignTextToFramePadding();
    problem_mark(lab);
    ImGui::SameLine(0, units(8));
    elided_text(lab.crash->words + " Report: " + lab.crash->path,
                whole - buttons - ImGui::GetTextLineHeight() - units(24));
    ImGui::SameLine(left + whole - buttons, 0);
    if (ImGui::Button(show)) lab.crash->shown = true;
    tooltip("Shows the report, for a look or to send it with a bug report.");
    ImGui::SameLine(0, units(8));
    if (ImGui::Button(copy)) copy_text(lab, lab.crash->path, "the path of the report");
    ImGui::SameLine(0, units(8));
    if (ImGui::Button(away)) lab.crash.reset();
    tooltip("Dismiss (kept in the Log; the file stays).");
}

void draw_crash_dialog(LabState& lab) {
    if (!lab.crash || !lab.crash->shown) return;
    if (!ImGui::IsPopupOpen(title)) ImGui::OpenPopup(title);
    const ImVec2 whole = ImGui::GetMainViewport()->WorkSize;
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowSize({std::min(units(800), whole.x * 0.9f), std::min(units(480), whole.y * 0.8f)});
    if (!ImGui::BeginPopupModal(title, nullptr, ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove)) return;
    elided_text(lab.crash->path, ImGui::GetContentRegionAvail().x);
    const float below = ImGui::GetFrameHeight() + units(8);
    ImGui::PushFont(number_font(), 0);
    ImGui::InputTextMultiline("##report", lab.crash->text.data(), lab.crash->text.size() + 1,
                              {-1, ImGui::GetContentRegionAvail().y - below}, ImGuiInputTextFlags_ReadOnly);
    ImGui::PopFont();
    if (ImGui::Button("Copy", {units(96), 0})) copy_text(lab, lab.crash->text, "the crash report");
    ImGui::SameLine();
    if (ImGui::Button("Close", {units(96), 0}) || ImGui::IsKeyPressed(ImGuiKey_Escape)) {
        lab.crash->shown = false;
        ImGui::CloseCurrentPopup();
    }
    ImGui::EndPopup();
}

}  // namespace sawtooth

#include <imgui.h>

#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"

namespace sawtooth {
namespace {

void draw_line(const LabState& lab, const LogLine& line) {
    ImGui::PushFont(number_font(), 0);
    ImGui::TextDisabled("%s", line.time.c_str());
    ImGui::PopFont();
    ImGui::SameLine();
    if (line.kind == LogLine::Kind::problem) {
        problem_mark(lab);
        ImGui::SameLine(0, units(4));
        ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    }
    ImGui::TextWrapped("%s", line.text.c_str());
    if (line.kind == LogLine::Kind::problem) ImGui::PopStyleColor();
}

std::string as_text(const LabState& lab) {
    std::string text;
    for (const LogLine& line : lab.log) text += line.time + "\t" + line.text + "\n";
    return text;
}

}  // namespace

void draw_log(LabState& lab) {
    if (lab.log.empty()) {
        centred_sentence(
            "Runs with time, device and duration, and all messages, appear here. Press F5 to run.");
        return;
    }
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {units(8), units(4)});
    if (ImGui::BeginChild("lines")) {
        for (const LogLine& line : lab.log) draw_line(lab, line);
        if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1) ImGui::SetScrollHereY(1);
        if (ImGui::BeginPopupContextWindow("log menu")) {
            if (ImGui::MenuItem("Copy as TSV")) copy_text(lab, as_text(lab), "the log as TSV");
            ImGui::EndPopup();
        }
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

}  // namespace sawtooth

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/figures/figure_view.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/checking.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

void draw_progress(LabState& lab, const CheckReport& report) {
    const auto share =
        report.size > 0 ? static_cast<float>(report.tried) / static_cast<float>(report.size) : 0;
    if (ImGui::Button("Stop###stop check")) lab.engine.cancel_check();
    tooltip("Stops the check. What it found stays.");
    ImGui::SameLine();
    const float top = ImGui::GetCursorPosY();
    ImGui::SetCursorPosY(top + (ImGui::GetFrameHeight() - units(8)) / 2);
    ImGui::ProgressBar(share, {units(120), units(8)}, "");
    ImGui::SameLine();
    ImGui::SetCursorPosY(top);
    ImGui::AlignTextToFramePadding();
    const std::string trying = report.trying ? setting_words(*report.trying) : "starting workers";
    elided_text(fmt::format("{} of {}   {}", report.tried, report.size, trying),
                ImGui::GetContentRegionAvail().x);
}

// Draws a finding: its sentence, and below it the command and the actions on it.
void draw_finding(LabState& lab, const Finding& finding, size_t index) {
    ImGui::PushID(static_cast<int>(index));
    problem_mark(lab);
    ImGui::SameLine(0, units(8));
    ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
    ImGui::TextWrapped("%s: %s", finding.variant.c_str(), sentence_of(finding).c_str());
    ImGui::PopStyleColor();
    const std::string command = command_of(finding);
    if (ImGui::Button("Run this")) load_finding(lab, finding);
    tooltip("Sets the parameters, the variant, the seed and the inputs of this setting, and runs it.");
    ImGui::SameLine();
    if (ImGui::Button("Copy as command")) copy_text(lab, command, "the command");
    tooltip("Copies the command that repeats this in a terminal.");
    ImGui::SameLine();
    if (!finding.figures.empty() && lab.checking.report->findings.size() > 1) {
        if (ImGui::RadioButton("Show", lab.checking.shown == index)) lab.checking.shown = index;
        tooltip("Draws this one below.");
        ImGui::SameLine();
    }
    ImGui::PushFont(number_font(), 0);
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    elided_text(command, ImGui::GetContentRegionAvail().x);
    ImGui::PopStyleColor();
    ImGui::PopFont();
    ImGui::PopID();
}

}  // namespace

void draw_check(LabState& lab) {
    const Checking& checking = lab.checking;
    if (!checking.report) {
        centred_sentence(checking.ticket ? "The check is starting."
                         : checking.ended.empty()
                             ? "Nothing was checked yet. Press Check above: settings that make "
                               "wrong kernels fail are tried, and wrong variants appear here."
                             : "The check ended: " + checking.ended);
        return;
    }
    const auto report = checking.report;  // kept, as an action may replace the report
    if (checking.ticket)
        draw_progress(lab, *report);
    else
        ImGui::TextWrapped("%s%s", checking.ended.empty() ? "" : (checking.ended + "; ").c_str(),
                           summary_of(*report).c_str());
    for (size_t i = 0; i < report->findings.size(); ++i) draw_finding(lab, report->findings[i], i);
    if (report->findings.empty()) return;
    const Finding& shown = report->findings[std::min(checking.shown, report->findings.size() - 1)];
    std::vector<ShownFigure> figures;
    for (const Figure& figure : shown.figures)
        figures.push_back({&figure, "", nullptr, 0, command_of(shown)});
    if (!figures.empty()) draw_figure_grid(lab, "Check", figures, "what is wrong");
}

}  // namespace sawtooth

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "app/gui/appearance.h"
#include "app/gui/controls.h"
#include "app/gui/input_file.h"
#include "app/gui/lab.h"
#include "app/gui/panels.h"
#include "app/gui/widgets.h"

namespace sawtooth {
namespace {

void draw_heading(std::string_view name) {
    std::string upper(name);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    ImGui::Spacing();
    ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase - 2);
    ImGui::TextDisabled("%s", upper.c_str());
    ImGui::PopFont();
}

int count_changed(const LabState& lab) {
    int count = 0;
    for (const Parameter& row : lab.family->parameters) count += is_changed(lab, row);
    for (const Parameter& row : run_rows()) count += is_changed(lab, row);
    return count;
}

// What hinders the run, or how far from the defaults it is, always in one line, so that nothing jumps.
void draw_state_line(LabState& lab) {
    const int changed = count_changed(lab);
    const char* reset = "Reset all";
    const float button = ImGui::CalcTextSize(reset).x + 2 * ImGui::GetStyle().FramePadding.x;
    const float room = ImGui::GetContentRegionAvail().x - button - units(8);
    const float left = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    if (lab.problem) {
        problem_mark(lab);
        ImGui::SameLine(0, units(4));
        ImGui::PushStyleColor(ImGuiCol_Text, problem_colour(lab));
        elided_text(problem_words(*lab.problem), room - ImGui::GetTextLineHeight() - units(4));
        ImGui::PopStyleColor();
    } else {
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
        elided_text(changed ? fmt::format("{} changed", changed) : "all at their defaults", room);
        ImGui::PopStyleColor();
    }
    ImGui::SameLine(left + room + units(8), 0);
    ImGui::BeginDisabled(changed == 0);
    if (ImGui::Button(reset)) reset_parameters(lab);
    ImGui::EndDisabled();
    tooltip("Puts every parameter at its default.");
}

void draw_file_line(LabState& lab) {
    if (lab.request.input.empty()) return;
    const float button = ImGui::CalcTextSize("Close").x + 2 * ImGui::GetStyle().FramePadding.x;
    const float room = ImGui::GetContentRegionAvail().x - button - units(8);
    const float left = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    const std::string name = std::filesystem::path(lab.request.input).filename().string();
    elided_text(fmt::format("inputs: {}", name), room);
    tooltip(lab.request.input);
    ImGui::SameLine(left + room + units(8), 0);
    if (ImGui::Button("Close##file")) close_file(lab);
    tooltip("Closes the file; inputs are generated again.");
}

void draw_group(LabState& lab, Group group, const std::vector<Parameter>& rows,
                const ControlColumns& columns) {
    const auto of_group = [group](const Parameter& row) { return row.group == group; };
    if (std::none_of(rows.begin(), rows.end(), of_group)) return;
    draw_heading(name_of(group));
    for (const Parameter& row : rows)
        if (of_group(row)) draw_control(lab, row, columns);
}

void draw_variants(LabState& lab, float width) {
    draw_heading("variants");
    for (size_t i = 0; i < lab.family->variants.size(); ++i) {
        const Variant& variant = lab.family->variants[i];
        const std::string reason = reason_refused(lab, variant);
        bool on = reason.empty() && !lab.disabled_variants.contains(variant.name);
        ImGui::BeginDisabled(!reason.empty());
        ImGui::BeginGroup();
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + units(12));
        if (ImGui::Checkbox(("##" + variant.name).c_str(), &on)) enable_variant(lab, variant.name, on);
        ImGui::SameLine();
        swatch(lab, static_cast<int>(i), units(32));
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        elided_text(variant.name, width - units(12 + 24 + 32 + 24));
        ImGui::EndGroup();
        ImGui::EndDisabled();
        tooltip(reason.empty() ? variant.idea
                               : fmt::format("{}\n\nCannot run now: {}", variant.idea, reason));
    }
}

}  // namespace

void draw_parameters(LabState& lab) {
    const float width = ImGui::GetContentRegionAvail().x;
    const ControlColumns columns = columns_for(lab, width);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {units(8), units(4)});
    draw_state_line(lab);
    draw_file_line(lab);
    for (const Group group : {Group::shape, Group::tiling, Group::algorithm, Group::numerics})
        draw_group(lab, group, lab.family->parameters, columns);
    draw_variants(lab, width);
    draw_heading(name_of(Group::run));
    // What only chooses what is drawn stands in the header of its figures.
    for (const Parameter& row : lab.family->parameters)
        if (row.group == Group::run && row.renews != Renews::figures) draw_control(lab, row, columns);
    for (const Parameter& row : run_rows()) draw_control(lab, row, columns);
    ImGui::PopStyleVar();
}

}  // namespace sawtooth

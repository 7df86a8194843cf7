#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "app/engine/run/run_rows.h"
#include "app/gui/panels/controls.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/effect.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/shown_values.h"

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
    int count = static_cast<int>(lab.disabled_variants.size()) + !lab.request.preset.empty();
    for (const Parameter& row : lab.family->parameters) count += is_changed(lab, row);
    for (const Parameter& row : run_rows()) count += is_changed(lab, row);
    return count;
}

// Draws the problem of the run or the number of changes, always on one line, so that nothing jumps.
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
    } else if (const std::string shown = values_of_earlier(lab); !shown.empty()) {
        elided_text("figures: " + shown, room);
        tooltip("The figures show an earlier result with these values, which Enter sets: " + shown + ".");
    } else {
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
        std::string words = changed ? fmt::format("{} changed", changed) : "";
        if (const size_t given = lab.fixed.size())
            words += fmt::format("{}{} from the input file", words.empty() ? "" : ", ", given);
        elided_text(words.empty() ? "all at their defaults" : words, room);
        ImGui::PopStyleColor();
    }
    ImGui::SameLine(left + room + units(8), 0);
    ImGui::BeginDisabled(changed == 0);
    if (ImGui::Button(reset)) reset_parameters(lab);
    ImGui::EndDisabled();
    tooltip("Sets every parameter to its default and selects every variant.");
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

// A row matches a filter by any part of its name, title, unit or meaning.
bool is_filtered_out(const LabState& lab, const Parameter& row) {
    const auto lower = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        return text;
    };
    return lower(row.name + " " + row.title + " " + row.unit + " " + row.meaning).find(lower(lab.filter)) ==
           std::string::npos;
}

void draw_filter(LabState& lab, float width) {
    if (std::exchange(lab.focuses_filter, false)) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(width);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {units(8), units(3)});
    input_text("##filter", lab.filter, ImGuiInputTextFlags_EscapeClearsAll, "Filter  Ctrl+F");
    ImGui::PopStyleVar();
    if (!ImGui::IsItemActive())
        tooltip(
            "Shows only parameters whose name, unit or meaning contains this text (Ctrl+F). Esc clears it.");
}

void draw_presets(LabState& lab, float width) {
    if (lab.family->presets.empty()) return;
    const std::string& present = lab.request.preset;
    ImGui::SetNextItemWidth(width);
    if (ImGui::BeginCombo("##preset", ("Preset: " + (present.empty() ? "defaults" : present)).c_str())) {
        if (ImGui::Selectable("defaults", present.empty())) choose_preset(lab, "");
        for (const Preset& preset : lab.family->presets)
            if (ImGui::Selectable(preset.name.c_str(), preset.name == present))
                choose_preset(lab, preset.name);
        ImGui::EndCombo();
    }
    tooltip("Sets all parameters to those of a published experiment, or back to the defaults.");
}

// The head of a fold: "Not used by rule delta" for rows of other rules, "Only on CUDA".
std::string why_folded(const LabState& lab, const Parameter& row) {
    const auto unmet = std::find_if(row.applies.begin(), row.applies.end(), [&](const Condition& condition) {
        return !condition.holds(lab.parameters, backend_in_force(lab));
    });
    if (!unmet->parameter.empty())
        return fmt::format("Not used by {} {}", unmet->parameter,
                           to_text(lab.parameters.at(unmet->parameter)));
    std::string words = unmet->words;
    words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
    return words;
}

using Rows = std::vector<const Parameter*>;

void draw_rows(LabState& lab, std::string_view heading, const Rows& rows, const ControlColumns& columns) {
    if (rows.empty()) return;
    draw_heading(heading);
    for (const Parameter* row : rows) draw_control(lab, *row, columns);
}

// Rows grouped under the reason why they are not used.
using Folds = std::vector<std::pair<std::string, Rows>>;

Folds folds_of(const LabState& lab, const Rows& rows) {
    Folds folds;
    for (const Parameter* row : rows) {
        const std::string why = why_folded(lab, *row);
        const auto known =
            std::find_if(folds.begin(), folds.end(), [&](const auto& fold) { return fold.first == why; });
        if (known == folds.end())
            folds.push_back({why, {row}});
        else
            known->second.push_back(row);
    }
    return folds;
}

// Draws the unused rows in folds, with their number; the folds are open while a filter is active.
void draw_unused(LabState& lab, const Folds& folds, const ControlColumns& columns) {
    for (const auto& [why, own] : folds) {
        // A search opens the folds, but does not change which ones are open without it.
        const bool searched = !lab.filter.empty();
        if (searched) ImGui::SetNextItemOpen(true);
        ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
        const std::string count = fmt::format(" ({})", own.size());
        const float room = ImGui::GetContentRegionAvail().x - ImGui::GetTreeNodeToLabelSpacing() -
                           ImGui::CalcTextSize(count.c_str()).x;
        const bool open = ImGui::TreeNodeEx(
            fmt::format("{}{}###{}{}", elided_to(why, room), count, why, searched ? " found" : "").c_str(),
            ImGuiTreeNodeFlags_NoTreePushOnOpen);
        ImGui::PopStyleColor();
        tooltip(why + ".\nChanging these has no effect now and runs nothing.");
        for (const Parameter* row : own)
            if (open) draw_control(lab, *row, columns);
    }
}

// Rows that only choose what is drawn are in the header of their figures; they are here only while searching.
Rows rows_of_family(const LabState& lab) {
    Rows rows;
    for (const Parameter& row : lab.family->parameters)
        if ((row.renews != Renews::figures || !lab.filter.empty()) && !is_filtered_out(lab, row))
            rows.push_back(&row);
    return rows;
}

void draw_nothing_found(LabState& lab) {
    ImGui::Spacing();
    ImGui::TextWrapped("No parameter has \"%s\" in its name, unit or meaning.", lab.filter.c_str());
    if (ImGui::Button("Clear the filter")) lab.filter.clear();
}

void draw_variants(LabState& lab, float width) {
    draw_heading("variants");
    for (size_t i = 0; i < lab.family->variants.size(); ++i) {
        const Variant& variant = lab.family->variants[i];
        const std::string reason = shown_refusal(lab, variant);
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
    draw_presets(lab, width);
    draw_filter(lab, width);
    Rows rows = rows_of_family(lab);
    const auto take = [&](auto&& wanted) {
        Rows taken;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(taken), wanted);
        std::erase_if(rows, wanted);
        return taken;
    };
    const bool finds_none = rows.empty();
    // Determined before any control is drawn, because changing one may make others used.
    const Folds unused =
        folds_of(lab, take([&](const Parameter* row) { return !reason_unused(lab, *row).empty(); }));
    Rows main;
    for (const std::string& name : lab.family->main_parameters)
        for (const Parameter* row : take([&](const Parameter* row) { return row->name == name; }))
            main.push_back(row);
    draw_rows(lab, "main", main, columns);
    for (const Group group : {Group::shape, Group::tiling, Group::algorithm, Group::numerics})
        draw_rows(lab, name_of(group), take([group](const Parameter* row) { return row->group == group; }),
                  columns);
    draw_unused(lab, unused, columns);
    if (lab.filter.empty()) draw_variants(lab, width);
    for (const Parameter& row : run_rows())
        if (!is_filtered_out(lab, row)) rows.push_back(&row);
    draw_rows(lab, name_of(Group::run), rows, columns);
    if (finds_none && rows.empty()) draw_nothing_found(lab);
    ImGui::PopStyleVar();
}

}  // namespace sawtooth

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "app/engine/tables/commands.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/column_widths.h"
#include "app/gui/state/kept_times.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/notes.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/selection.h"
#include "app/gui/state/terms.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/counters.h"

namespace sawtooth {
namespace {

void draw_copy_menu(LabState& lab, const Table& table) {
    if (!ImGui::BeginPopupContextWindow("table menu")) return;
    if (ImGui::MenuItem("Copy as TSV")) copy_text(lab, table.tsv(), "the table as TSV");
    if (ImGui::MenuItem("Copy as Markdown")) copy_text(lab, table.markdown(), "the table as Markdown");
    if (ImGui::MenuItem("Copy as command")) copy_text(lab, command_of(lab.result->request), "the command");
    ImGui::EndPopup();
}

void right_align(const std::string& text, float margin = 0) {
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x - margin;
    if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
}

float badge_margin() { return units(5); }

constexpr const char *verdict_column = "verdict", *stability_column = "stability";

std::string head_of(const Table::Column& column) {
    if (column.name == stability_column) return "spread";
    return column.unit.empty() ? column.name : column.name + " (" + column.unit + ")";
}

// The text of a cell below its head: "unstable: 3x" is "3x" in the column "spread".
std::string shown_text(const Table& table, size_t column, const std::string& text) {
    const size_t colon = text.find(": ");
    return table.columns[column].name == stability_column && colon != text.npos ? text.substr(colon + 2)
                                                                                : text;
}

// The text of the badge on a cell, in the colour of problems; "" if it has none.
std::string problem_of(const LabState& lab, const Table& table, size_t column,
                       const std::vector<std::string>& row) {
    const std::string& name = table.columns[column].name;
    if (name == stability_column && !row[column].empty())
        return fmt::format("Unstable: the quartiles of the repeats differ by {}. Press F5 to measure again.",
                           shown_text(table, column, row[column]));
    const auto wrong = lab.told.wrong.find(row.front());
    return name == verdict_column && wrong != lab.told.wrong.end() ? wrong->second : "";
}

// The number of columns up to the verdict: time, stability, speed-up.
size_t wanted_columns(const Table& table) {
    const auto verdict =
        std::find_if(table.columns.begin(), table.columns.end(),
                     [](const Table::Column& column) { return column.name == verdict_column; });
    return static_cast<size_t>(verdict - table.columns.begin()) + (verdict != table.columns.end());
}

// The width of the widest text in the column.
float width_of(const Table& table, size_t column) {
    const std::string& name = table.columns[column].name;
    const bool has_badges = name == verdict_column || name == stability_column;
    float width = ImGui::CalcTextSize(head_of(table.columns[column]).c_str()).x;
    ImGui::PushFont(table.columns[column].number ? number_font() : nullptr, 0);
    for (const auto& row : table.rows) {
        const std::string text = shown_text(table, column, row[column]);
        width = std::max(width, ImGui::CalcTextSize(text.c_str()).x + (has_badges ? 2 * badge_margin() : 0));
    }
    ImGui::PopFont();
    return width + (column == 0 ? units(16) : 0);
}

void draw_head(const Table& table) {
    std::vector<float> widths;
    for (size_t i = 0; i < table.columns.size(); ++i) widths.push_back(width_of(table, i));
    widths = fitted_widths(std::move(widths), ImGui::GetCurrentTable()->InnerClipRect.GetWidth(),
                           2 * ImGui::GetStyle().CellPadding.x, wanted_columns(table), units(96));
    for (size_t i = 0; i < table.columns.size(); ++i)
        ImGui::TableSetupColumn(table.columns[i].name.c_str(), ImGuiTableColumnFlags_WidthFixed, widths[i]);
    ImGui::TableSetupScrollFreeze(1, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (const Table::Column& column : table.columns) {
        ImGui::TableNextColumn();
        if (column.number) right_align(head_of(column));
        ImGui::TextDisabled("%s", head_of(column).c_str());
        std::string words = definitions_in(column.name);
        if (column.name.starts_with("time vs "))
            words = fmt::format("Measured one after the other: a difference below {}x cannot be told.\n\n{}",
                                apart_within, words);
        tooltip(words);
    }
}

// Draws the words in a frame, in the colour of problems; the tooltip explains them.
void draw_badge(const LabState& lab, const std::string& words, const std::string& meaning) {
    right_align(words, badge_margin());
    const float margin = badge_margin() - 1;  // otherwise the cell would cut the frame
    const ImVec2 extent = ImGui::CalcTextSize(words.c_str()), corner = ImGui::GetCursorScreenPos();
    const ImVec2 begin{corner.x - margin, corner.y}, end{corner.x + extent.x + margin, corner.y + extent.y};
    ImVec4 ground = problem_colour(lab);
    ImGui::GetWindowDrawList()->AddRect(begin, end, ImGui::GetColorU32(ground));
    ground.w *= 0.25f;
    ImGui::GetWindowDrawList()->AddRectFilled(begin, end, ImGui::GetColorU32(ground));
    ImGui::TextUnformatted(words.c_str());
    tooltip(meaning);
}

void draw_cell(const LabState& lab, const Table& table, size_t column, const std::vector<std::string>& row) {
    ImGui::TableNextColumn();
    const std::string& text = row[column];
    if (const std::string problem = problem_of(lab, table, column, row); !problem.empty())
        return draw_badge(lab, shown_text(table, column, text), problem);
    if (!table.columns[column].number) {
        ImGui::TextUnformatted(text.c_str());
        return;
    }
    const std::string& shown = text.empty() && lab.result ? "–" : text;
    ImGui::PushFont(number_font(), 0);
    right_align(shown);
    ImGui::TextUnformatted(shown.c_str());
    ImGui::PopFont();
}

void draw_variant_name(const LabState& lab, const std::string& name) {
    for (size_t i = 0; i < lab.family->variants.size(); ++i) {
        if (lab.family->variants[i].name != name) continue;
        const ImVec2 corner = ImGui::GetCursorScreenPos();
        const float middle = corner.y + ImGui::GetTextLineHeight() / 2;
        const uint32_t rgb =
            stroke_of({Ink::Role::variant, static_cast<int>(i), false}, theme_of(lab)).colour.rgb;
        ImGui::GetWindowDrawList()->AddRectFilled({corner.x, middle - units(4)},
                                                  {corner.x + units(8), middle + units(4)},
                                                  ImGui::GetColorU32(colour_of(rgb)));
        ImGui::Dummy({units(8), 0});
        ImGui::SameLine();
    }
    elided_text(name, ImGui::GetContentRegionAvail().x);
}

// Draws the name of a variant; if it did not run, greyed, with the reason in its tooltip.
void draw_variant_cell(const LabState& lab, const std::string& name) {
    ImGui::TableNextColumn();
    const VariantResult* const variant = find(*lab.result, name);
    const bool refused = variant && !variant->ran();
    ImGui::BeginDisabled(refused);
    draw_variant_name(lab, name);
    ImGui::EndDisabled();
    if (refused) tooltip(variant->refused);
}

void draw_table(LabState& lab, const char* name, const Table& table, float below) {
    constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                      ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerH |
                                      ImGuiTableFlags_SizingFixedFit;
    if (!ImGui::BeginTable(name, static_cast<int>(table.columns.size()), flags, {0, -below})) return;
    draw_head(table);
    for (const auto& row : table.rows) {
        ImGui::TableNextRow();
        draw_variant_cell(lab, row.front());
        for (size_t column = 1; column < row.size(); ++column) draw_cell(lab, table, column, row);
    }
    draw_copy_menu(lab, table);
    ImGui::EndTable();
}

// The note on the launch, or a button for a new one.
void draw_note_row(LabState& lab) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextDisabled("note");
    ImGui::TableNextColumn();
    const auto index = note_of_selected(lab);
    if (index) ImGui::TextWrapped("%s", lab.session.notes[*index].note.text.c_str());
    ImGui::BeginDisabled(!reason_no_note(lab).empty());
    if (ImGui::SmallButton(index ? "Edit…###note" : "Add…###note")) begin_note_on_selected(lab);
    ImGui::EndDisabled();
}

void draw_launch(LabState& lab, float below) {
    constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg;
    if (!ImGui::BeginTable("launch", 2, flags, {0, -below})) return;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, units(72));
    ImGui::TableSetupColumn("value");
    for (const auto& [name, value] : facts_of_selected(lab)) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        const Counter* const counter = find_counter(name);
        if (value.empty())
            ImGui::TextUnformatted(name.c_str());
        else
            ImGui::TextDisabled("%s", name.c_str());
        if (counter) tooltip(fmt::format("{}\n\n{}", counter->meaning, counter->metric));
        ImGui::TableNextColumn();
        if (name == "variant")
            draw_variant_name(lab, value);
        else
            ImGui::TextWrapped("%s", value.c_str());
        if (name == "duration") draw_note_row(lab);
    }
    ImGui::EndTable();
}

// Draws the tab of the selected launch, which comes to the front once per selection.
void draw_launch_leaf(LabState& lab, float below) {
    const bool is_new = !std::exchange(lab.selected->in_numbers, true);
    if (!ImGui::BeginTabItem((title_of_selected(lab) + "###launch").c_str(), nullptr,
                             is_new ? ImGuiTabItemFlags_SetSelected : 0))
        return;
    draw_launch(lab, below);
    ImGui::EndTabItem();
}

// Draws the tabs of the panel: measurements, compiled kernels and the selected launch.
void draw_tables(LabState& lab, const Table& measured, const Table& compiled, float below) {
    const bool has_launch = selected_launch(lab).has_value();
    if (compiled.rows.empty() && !has_launch) return draw_table(lab, "numbers", measured, below);
    if (!ImGui::BeginTabBar("tables")) return;
    if (ImGui::BeginTabItem("Measured")) {
        draw_table(lab, "numbers", measured, below);
        ImGui::EndTabItem();
    }
    if (!compiled.rows.empty() && ImGui::BeginTabItem("Compiled")) {
        draw_table(lab, "compiled", compiled, below);
        ImGui::EndTabItem();
    }
    if (has_launch) draw_launch_leaf(lab, below);
    ImGui::EndTabBar();
}

// In Compare: why there is no column that compares; "" if there is one.
std::string hint_of(const LabState& lab) {
    if (lab.settings.arrangement != Arrangement::compare || baseline(lab)) return "";
    if (lab.pins.empty())
        return "Nothing is pinned. Pin this result (Ctrl+B) and change a parameter: columns here compare the "
               "next "
               "result with it.";
    if (is_pinned(lab)) return "The shown result is the pinned one: change a parameter to compare with it.";
    return fmt::format("No pinned result is of {}: pin one to compare with it.", lab.family->title);
}

}  // namespace

void draw_numbers(LabState& lab) {
    if (!lab.result) {
        centred_sentence(empty_sentence(lab, "times, rates and errors of every variant as a table to copy"));
        return;
    }
    const std::string outdated = why_times_outdated(lab);
    const std::string hint = hint_of(lab);
    const float room = ImGui::GetContentRegionAvail().x, gap = ImGui::GetStyle().ItemSpacing.y;
    const float below = (outdated.empty() ? 0 : ImGui::GetTextLineHeightWithSpacing()) +
                        (hint.empty() ? 0 : ImGui::CalcTextSize(hint.c_str(), nullptr, false, room).y + gap);
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, outdated.empty() ? 1.0f : 0.5f);
    draw_tables(lab, lab.told.measured, lab.told.compiled, below);
    ImGui::PopStyleVar();
    if (!outdated.empty()) ImGui::TextDisabled("out of date: %s", outdated.c_str());
    if (hint.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::TextWrapped("%s", hint.c_str());
    ImGui::PopStyleColor();
}

}  // namespace sawtooth

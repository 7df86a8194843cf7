#include "app/gui/figures/legend.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "viz/heading.h"
#include "viz/imgui/canvas_imgui.h"

namespace sawtooth {
namespace {

// The variants that the figures show. Once a variant has points, all variants that ran are included, so that
// the legend of Story keeps its number of lines while sweeps fill their figures.
std::vector<int> entries_of(const LabState& lab, const std::vector<ShownFigure>& shown) {
    std::vector<bool> is_shown(lab.family->variants.size());
    bool any = false;
    const auto add = [&](int index) {
        if (static_cast<size_t>(index) < is_shown.size()) is_shown[static_cast<size_t>(index)] = any = true;
    };
    for (const ShownFigure& each : shown)
        for (const LegendEntry& entry : legend_of(*each.figure, theme_of(lab)))
            if (entry.ink.role == Ink::Role::variant) add(entry.ink.index);
    const bool has_sweeps =
        std::any_of(shown.begin(), shown.end(), [](const ShownFigure& each) { return each.sweep; });
    if (has_sweeps && lab.result)
        for (const VariantResult& variant : lab.result->variants)
            if (variant.ran()) add(variant.index);
    std::vector<int> entries;
    for (size_t i = 0; i < is_shown.size(); ++i)
        if (is_shown[i]) entries.push_back(static_cast<int>(i));
    return entries;
}

const std::string& name_of(const LabState& lab, int variant) {
    return lab.family->variants[static_cast<size_t>(variant)].name;
}

float sample_width() { return units(24); }
float width_of(const LabState& lab, int variant) {
    return sample_width() + units(4) + ImGui::CalcTextSize(name_of(lab, variant).c_str()).x;
}

// Calls draw(variant, left, row) for each entry, in rows of at most that width; returns the number of rows.
template <class Draw>
int flow(const LabState& lab, const std::vector<int>& entries, float width, Draw&& draw) {
    float left = 0;
    int row = 0;
    for (const int variant : entries) {
        const float wanted = width_of(lab, variant);
        if (left > 0 && left + wanted > width) left = 0, ++row;
        draw(variant, left, row);
        left += wanted + units(16);
    }
    return entries.empty() ? 0 : row + 1;
}

float row_height() { return ImGui::GetTextLineHeight() + units(4); }

void toggle(LabState& lab, int variant) {
    if (!lab.hidden_variants.erase(variant)) lab.hidden_variants.insert(variant);
}

// Hides all other variants; a second call shows all again.
void show_alone(LabState& lab, int variant) {
    std::set<int> others;
    for (int i = 0; i < static_cast<int>(lab.family->variants.size()); ++i)
        if (i != variant) others.insert(i);
    lab.hidden_variants = lab.hidden_variants == others ? std::set<int>{} : others;
}

void draw_entry(LabState& lab, int variant, ImVec2 corner) {
    const bool hidden = lab.hidden_variants.contains(variant);
    const std::string& name = name_of(lab, variant);
    ImGui::SetCursorScreenPos(corner);
    ImGui::PushID(name.c_str());
    if (ImGui::InvisibleButton("legend", {width_of(lab, variant), row_height()}))
        ImGui::GetIO().KeyAlt ? show_alone(lab, variant) : toggle(lab, variant);
    tooltip(fmt::format("{}: {}\n\nClick to {} its lines; Alt+click to show only this variant.", name,
                        lab.family->variants[static_cast<size_t>(variant)].idea, hidden ? "show" : "hide"));
    ImGui::PopID();
    LegendEntry sample{.label = name, .stroke = stroke_of({Ink::Role::variant, variant}, theme_of(lab))};
    sample.stroke.colour = sample.stroke.colour.faded(hidden ? 0.3f : 1.0f);
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    draw_sample(canvas, theme_of(lab), sample, {corner.x, corner.y + row_height() / 2}, sample_width());
    ImGui::GetWindowDrawList()->AddText({corner.x + sample_width() + units(4), corner.y + units(2)},
                                        ImGui::GetColorU32(hidden ? ImGuiCol_TextDisabled : ImGuiCol_Text),
                                        name.c_str());
}

}  // namespace

float legend_height(const LabState& lab, const std::vector<ShownFigure>& shown, float width) {
    const int rows = flow(lab, entries_of(lab, shown), width, [](int, float, int) {});
    return rows == 0 ? 0 : static_cast<float>(rows) * row_height() + units(4);
}

void draw_legend(LabState& lab, const std::vector<ShownFigure>& shown) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const int rows = flow(lab, entries_of(lab, shown), width, [&](int variant, float left, int row) {
        draw_entry(lab, variant, {corner.x + left, corner.y + static_cast<float>(row) * row_height()});
    });
    ImGui::SetCursorScreenPos(corner);
    if (rows > 0) ImGui::Dummy({width, static_cast<float>(rows) * row_height() + units(4)});
}

}  // namespace sawtooth

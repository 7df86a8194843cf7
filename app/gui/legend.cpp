#include "app/gui/legend.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/appearance.h"
#include "app/gui/terms.h"
#include "app/gui/widgets.h"
#include "viz/heading.h"
#include "viz/imgui/canvas_imgui.h"

namespace sawtooth {
namespace {

struct Entry {
    int variant = -1;  // -1: not a variant
    LegendEntry sample = {};
};

// "chunkwise_gd, predicted" gives two entries: the colour of the variant and the meaning of dashes.
std::vector<Entry> entries_of(const LabState& lab, const std::vector<ShownFigure>& shown) {
    std::vector<Entry> variants(lab.family->variants.size()), others;
    const auto add_other = [&](LegendEntry entry) {
        const auto is_there = [&](const Entry& other) { return other.sample.label == entry.label; };
        if (std::none_of(others.begin(), others.end(), is_there)) others.push_back({-1, std::move(entry)});
    };
    for (const ShownFigure& each : shown) {
        for (LegendEntry& entry : legend_of(*each.figure, theme_of(lab))) {
            const auto index = static_cast<size_t>(entry.ink.index);
            if (entry.ink.role != Ink::Role::variant || index >= variants.size()) {
                add_other(std::move(entry));
                continue;
            }
            const std::string& name = lab.family->variants[index].name;
            variants[index].variant = entry.ink.index;
            variants[index].sample.label = name;
            if (!entry.label.starts_with(name + ", ")) continue;
            entry.label.erase(0, name.size() + 2);
            entry.stroke = stroke_of({Ink::Role::quiet, 0, entry.ink.dashed}, theme_of(lab));
            add_other(std::move(entry));
        }
    }
    std::erase_if(variants, [](const Entry& entry) { return entry.variant < 0; });
    variants.insert(variants.end(), others.begin(), others.end());
    return variants;
}

float sample_width() { return units(24); }
float width_of(const Entry& entry) {
    return sample_width() + units(4) + ImGui::CalcTextSize(entry.sample.label.c_str()).x;
}

// Calls draw(entry, left, row) for each entry, in rows of at most that width; returns the number of rows.
template <class Draw>
int flow(const std::vector<Entry>& entries, float width, Draw&& draw) {
    float left = 0;
    int row = 0;
    for (const Entry& entry : entries) {
        const float wanted = width_of(entry);
        if (left > 0 && left + wanted > width) left = 0, ++row;
        draw(entry, left, row);
        left += wanted + units(16);
    }
    return entries.empty() ? 0 : row + 1;
}

float row_height() { return ImGui::GetTextLineHeight() + units(4); }

void draw_sample(const LabState& lab, const Entry& entry, ImVec2 corner, bool hidden) {
    const Stroke full = entry.variant >= 0
                            ? stroke_of({Ink::Role::variant, entry.variant, false}, theme_of(lab))
                            : entry.sample.stroke;
    Stroke stroke = full;
    stroke.colour = stroke.colour.faded(hidden ? 0.3f : 1.0f);
    const float middle = corner.y + row_height() / 2;
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    LegendEntry sample = entry.sample;
    sample.stroke = stroke;
    if (entry.variant >= 0) sample.kind = LegendEntry::Kind::line;
    sawtooth::draw_sample(canvas, theme_of(lab), sample, {corner.x, middle}, sample_width());
}

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

void draw_entry(LabState& lab, const Entry& entry, ImVec2 corner) {
    const bool hidden = lab.hidden_variants.contains(entry.variant);
    ImGui::SetCursorScreenPos(corner);
    ImGui::PushID(entry.sample.label.c_str());
    if (ImGui::InvisibleButton("legend", {width_of(entry), row_height()}) && entry.variant >= 0)
        ImGui::GetIO().KeyAlt ? show_alone(lab, entry.variant) : toggle(lab, entry.variant);
    if (entry.variant >= 0)
        tooltip(fmt::format("{}: {}\n\nClick to {} its lines; Alt+click to show only this variant.",
                            entry.sample.label, lab.family->variants[static_cast<size_t>(entry.variant)].idea,
                            hidden ? "show" : "hide"));
    else
        tooltip(definitions_in(entry.sample.label));
    ImGui::PopID();
    draw_sample(lab, entry, corner, hidden);
    ImGui::GetWindowDrawList()->AddText(
        {corner.x + sample_width() + units(4), corner.y + units(2)},
        ImGui::GetColorU32(hidden || entry.variant < 0 ? ImGuiCol_TextDisabled : ImGuiCol_Text),
        entry.sample.label.c_str());
}

}  // namespace

float legend_height(const LabState& lab, const std::vector<ShownFigure>& shown, float width) {
    const int rows = flow(entries_of(lab, shown), width, [](const Entry&, float, int) {});
    return rows == 0 ? 0 : static_cast<float>(rows) * row_height() + units(4);
}

void draw_legend(LabState& lab, const std::vector<ShownFigure>& shown) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const auto entries = entries_of(lab, shown);
    const int rows = flow(entries, width, [&](const Entry& entry, float left, int row) {
        draw_entry(lab, entry, {corner.x + left, corner.y + static_cast<float>(row) * row_height()});
    });
    ImGui::SetCursorScreenPos(corner);
    if (rows > 0) ImGui::Dummy({width, static_cast<float>(rows) * row_height() + units(4)});
}

}  // namespace sawtooth

// The first screen of a family: its figures that matter most, all of them whole and in sight, and the panel
// with all the others.

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/gui/appearance.h"
#include "app/gui/figure_view.h"
#include "app/gui/legend.h"
#include "app/gui/panels.h"
#include "app/gui/widgets.h"
#include "viz/imgui/canvas_imgui.h"
#include "viz/layout.h"

namespace sawtooth {
namespace {

constexpr float narrowest = 264, lowest = 168;  // units, of a figure

struct Row {
    std::vector<ShownFigure> figures;
    double weight = 1;
    float least = 0, height = 0;  // pixels
};

std::vector<ShownFigure> all_figures(const LabState& lab) {
    std::vector<ShownFigure> all;
    for (const Place place : {Place::views, Place::error, Place::outputs, Place::timeline})
        for (const ShownFigure& shown : shown_figures(lab, place)) all.push_back(shown);
    return all;
}

float least_height_of(const ShownFigure& shown) {
    const float line = ImGui::GetTextLineHeight();
    return std::max(units(lowest), std::ceil(least_height(ImGuiCanvas(nullptr), *shown.figure) + 2 * line));
}

// As many figures of each row as are wide enough side by side, and as many rows as are high enough.
std::vector<Row> rows_that_fit(const LabState& lab, ImVec2 room) {
    const auto all = all_figures(lab);
    const float gap = units(8);
    const auto most = static_cast<size_t>(std::max(1.0f, (room.x + gap) / (units(narrowest) + gap)));
    std::vector<Row> rows;
    float taken = -gap;
    for (const StoryRow& wanted : lab.family->story) {
        Row row{{}, wanted.weight};
        for (const std::string& id : wanted.figures) {
            const auto found = std::find_if(all.begin(), all.end(),
                                            [&](const ShownFigure& each) { return each.figure->id == id; });
            if (found == all.end() || row.figures.size() == most) continue;
            row.figures.push_back(*found);
            row.least = std::max(row.least, least_height_of(*found));
        }
        if (row.figures.empty()) continue;
        if (!rows.empty() && taken + gap + row.least > room.y) break;
        taken += gap + row.least;
        rows.push_back(std::move(row));
    }
    return rows;
}

void share_out(std::vector<Row>& rows, float height) {
    const float gaps = units(8) * static_cast<float>(rows.size() - 1);
    float least = gaps;
    double weights = 0;
    for (const Row& row : rows) least += row.least, weights += row.weight;
    const float spare = std::max(height - least, 0.0f);
    for (Row& row : rows)
        row.height = std::floor(row.least + spare * static_cast<float>(row.weight / weights));
}

std::vector<ShownFigure> figures_of(const std::vector<Row>& rows) {
    std::vector<ShownFigure> shown;
    for (const Row& row : rows) shown.insert(shown.end(), row.figures.begin(), row.figures.end());
    return shown;
}

// What a legend over all of the story would take is taken off before rows are chosen, so that the choice does
// not depend on itself.
std::vector<Row> story_rows(const LabState& lab, ImVec2 room) {
    const float legend = legend_height(lab, all_figures(lab), room.x);
    return rows_that_fit(lab, {room.x, room.y - legend});
}

}  // namespace

void draw_story(LabState& lab) {
    const std::string shows = "the figures that matter most";
    if (lab.family->story.empty()) return draw_figure_grid(lab, "Story", all_figures(lab), shows);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    std::vector<Row> rows = story_rows(lab, room);
    const auto shown = figures_of(rows);
    if (draw_filling_figure(lab, "Story", shown)) return;
    if (rows.empty()) return centred_sentence(empty_sentence(lab, shows));
    draw_legend(lab, shown);
    share_out(rows, ImGui::GetContentRegionAvail().y);
    const float gap = units(8);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
    for (const Row& row : rows) {
        const auto count = static_cast<float>(row.figures.size());
        const ImVec2 size{std::floor((room.x - gap * (count - 1)) / count), row.height};
        for (const ShownFigure& each : row.figures) {
            if (each.figure != row.figures.front().figure) ImGui::SameLine();
            draw_shown_figure(lab, "Story", each, size);
        }
    }
    ImGui::PopStyleVar();
}

void draw_more(LabState& lab) {
    const auto in_story = figures_of(story_rows(lab, ImGui::GetContentRegionAvail()));
    std::vector<ShownFigure> others = shown_figures(lab, Place::views);
    std::erase_if(others, [&](const ShownFigure& each) {
        return std::any_of(in_story.begin(), in_story.end(),
                           [&](const ShownFigure& other) { return other.figure == each.figure; });
    });
    draw_figure_grid(lab, "More", others, "the family's other figures and sweeps of parameters");
}

}  // namespace sawtooth

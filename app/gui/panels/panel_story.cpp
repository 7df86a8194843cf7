// The first screen of a family: its most important figures, each completely visible, and the panel with all
// the others.

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "app/gui/figures/figure_view.h"
#include "app/gui/figures/legend.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "viz/imgui/canvas_imgui.h"
#include "viz/layout.h"

namespace sawtooth {
namespace {

// The smallest size of a figure, in units. In a low window figures are lower, so that two rows fit.
constexpr float narrowest = 264, lowest = 196, lowest_of_all = 132;

struct Row {
    std::vector<ShownFigure> figures;
    std::vector<float> widths;  // relative widths of the figures
    double weight = 1;
    float least = 0;       // the least height in pixels
    bool is_main = false;  // shows the main output, with its error beside it
};

std::vector<ShownFigure> all_figures(const LabState& lab) {
    std::vector<ShownFigure> all;
    for (const Place place : {Place::views, Place::error, Place::outputs, Place::timeline})
        for (const ShownFigure& shown : shown_figures(lab, place)) all.push_back(shown);
    return all;
}

// Rows of launches need less height than plots.
float least_height_of(const ShownFigure& shown, float lowest_here) {
    const float line = ImGui::GetTextLineHeight();
    const float caption = shown.figure->caption.empty() ? 0 : (shown.figure->zoom ? 1.2f : 2.4f) * line;
    const float own = std::ceil(least_height(ImGuiCanvas(nullptr), *shown.figure) + caption);
    if (!has_axis_on_top(*shown.figure)) return std::max(lowest_here, own);
    constexpr float around = 2.5f, row = 1.4f;  // lines: around for title and axis, row for each row
    const auto rows = static_cast<float>(row_names(*shown.figure).size());
    return std::max(own, std::ceil((around + row * std::min(rows, 3.0f)) * line + caption));
}

// The width relative to the other figures of a row: names of rows need room beside the plot.
float width_of(const ShownFigure& shown) { return row_names(*shown.figure).empty() ? 3 : 4; }

const ShownFigure* find_figure(const std::vector<ShownFigure>& all, std::string_view id) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ShownFigure& each) { return each.figure->id == id; });
    return found == all.end() ? nullptr : &*found;
}

// Distributes the figures over rows, as many per row as are large enough.
std::vector<Row> all_rows(const LabState& lab, const std::vector<ShownFigure>& all, size_t most,
                          float lowest_here) {
    const std::string output = "output-" + lab.family->main_output;
    std::vector<Row> rows;
    for (const StoryRow& wanted : lab.family->story) {
        Row row{{}, {}, wanted.weight};
        for (const std::string& id : wanted.figures) {
            const ShownFigure* const found = find_figure(all, id);
            if (!found || row.figures.size() == most) continue;
            row.figures.push_back(*found);
            row.widths.push_back(width_of(*found));
            row.least = std::max(row.least, least_height_of(*found, lowest_here));
            row.is_main = row.is_main || id == output;
        }
        if (!row.figures.empty()) rows.push_back(std::move(row));
    }
    return rows;
}

// The rows that have enough height. The last ones are dropped first, but output and error always stay.
std::vector<Row> rows_that_fit(const LabState& lab, ImVec2 room) {
    const auto all = all_figures(lab);
    const float gap = units(8);
    const auto most = static_cast<size_t>(std::max(1.0f, (room.x + gap) / (units(narrowest) + gap)));
    const float lowest_here = std::clamp(std::floor((room.y - gap) / 2), units(lowest_of_all), units(lowest));
    std::vector<Row> rows = all_rows(lab, all, most, lowest_here);
    const auto height = [&] {
        float sum = -gap;
        for (const Row& row : rows) sum += row.least + gap;
        return sum;
    };
    while (rows.size() > 1 && height() > room.y) {
        const auto others =
            std::find_if(rows.rbegin(), rows.rend() - 1, [](const Row& row) { return !row.is_main; });
        rows.erase(others == rows.rend() - 1 ? rows.end() - 1 : others.base() - 1);
    }
    return rows;
}

// The height of a legend for all figures is subtracted before rows are chosen, so that the choice does not
// depend on itself.
std::vector<Row> story_rows(const LabState& lab, ImVec2 room) {
    const float legend = legend_height(lab, all_figures(lab), room.x);
    return rows_that_fit(lab, {room.x, room.y - legend});
}

std::vector<ShownFigure> figures_of(const std::vector<Row>& rows) {
    std::vector<ShownFigure> shown;
    for (const Row& row : rows) shown.insert(shown.end(), row.figures.begin(), row.figures.end());
    return shown;
}

// The places of a zoom and of the range that it shows.
struct JoinedZoom {
    Box whole, zoom;
    float left = 0, right = 0;  // x of the range, in the figure above
};

std::optional<JoinedZoom> joined_zoom(const Figure& figure, const std::map<std::string, Frame>& plots) {
    const auto below = plots.find(figure.id);
    const auto above = figure.zoom ? plots.find(figure.zoom->figure) : plots.end();
    if (below == plots.end() || above == plots.end()) return {};
    const Frame &whole = above->second, &zoom = below->second;
    if (whole.box.bottom > zoom.box.top || zoom.x.high < whole.x.low || zoom.x.low > whole.x.high) return {};
    const auto place = [&](double x) { return whole.at_x(std::clamp(x, whole.x.low, whole.x.high)); };
    const float left = place(zoom.x.low);
    return JoinedZoom{whole.box, zoom.box, left, std::max(place(zoom.x.high), left + 1)};
}

// Draws two lines from the range to the corners of the zoom.
void join(const JoinedZoom& joined, Colour accent) {
    const auto& [whole, zoom, left, right] = joined;
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    canvas.strip(std::array<Point, 2>{{{left, whole.bottom}, {right, whole.bottom}}},
                 std::array<Point, 2>{{{zoom.left, zoom.top}, {zoom.right, zoom.top}}}, accent.faded(0.06f));
    canvas.path(std::array<Point, 2>{{{left, whole.bottom}, {zoom.left, zoom.top}}}, {accent.faded(0.5f), 1});
    canvas.path(std::array<Point, 2>{{{right, whole.bottom}, {zoom.right, zoom.top}}},
                {accent.faded(0.5f), 1});
}

// Draws two lines at the ends of the range.
void mark_range(const JoinedZoom& joined, Colour accent) {
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    for (const float x : {joined.left, joined.right})
        canvas.path(std::array<Point, 2>{{{x, joined.whole.top}, {x, joined.whole.bottom}}}, {accent, 1.5f});
}

}  // namespace

std::vector<PlacedFigure> story_layout(const LabState& lab, ImVec2 room) {
    const std::vector<Row> rows = story_rows(lab, room);
    const float gap = units(8), legend = legend_height(lab, figures_of(rows), room.x);
    float spare = room.y - legend - gap * static_cast<float>(rows.size() - 1), top = legend;
    double weights = 0;
    for (const Row& row : rows) spare -= row.least, weights += row.weight;
    std::vector<PlacedFigure> placed;
    for (const Row& row : rows) {
        const auto count = static_cast<float>(row.figures.size());
        const float share = std::max(spare, 0.0f) * static_cast<float>(row.weight / weights);
        const float width = (room.x - gap * (count - 1)) /
                            std::accumulate(row.widths.begin(), row.widths.end(), 0.0f),
                    height = std::floor(row.least + share);
        float left = 0;
        for (size_t i = 0; i < row.figures.size(); ++i) {
            const ImVec2 size{std::floor(width * row.widths[i]), height};
            placed.push_back({row.figures[i], {left, top}, size});
            left += size.x + gap;
        }
        top += height + gap;
    }
    return placed;
}

void draw_story(LabState& lab) {
    const std::string shows = "the most important figures";
    if (lab.family->story.empty()) return draw_figure_grid(lab, "Story", all_figures(lab), shows);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const auto placed = story_layout(lab, ImGui::GetContentRegionAvail());
    if (placed.empty()) return centred_sentence(empty_sentence(lab, shows));
    std::vector<ShownFigure> shown;
    for (const PlacedFigure& each : placed) shown.push_back(each.shown);
    if (draw_filling_figure(lab, "Story", shown)) return;
    draw_legend(lab, shown);
    // The lines between figures are drawn below them.
    ImDrawList* const list = ImGui::GetWindowDrawList();
    ImDrawListSplitter layers;
    layers.Split(list, 2);
    layers.SetCurrentChannel(list, 1);
    std::map<std::string, Frame> plots;
    for (const PlacedFigure& each : placed) {
        ImGui::SetCursorScreenPos({corner.x + each.at.x, corner.y + each.at.y});
        if (const auto plot = draw_shown_figure(lab, "Story", each.shown, each.size))
            plots[each.shown.figure->id] = *plot;
    }
    const Colour accent = stroke_of({Ink::Role::accent}, theme_of(lab)).colour;
    for (const PlacedFigure& each : placed)
        if (const auto joined = joined_zoom(*each.shown.figure, plots)) {
            layers.SetCurrentChannel(list, 1);
            mark_range(*joined, accent);
            layers.SetCurrentChannel(list, 0);
            join(*joined, accent);
        }
    layers.Merge(list);
}

void draw_more(LabState& lab) {
    const auto in_story = figures_of(story_rows(lab, ImGui::GetContentRegionAvail()));
    std::vector<ShownFigure> others = shown_figures(lab, Place::views);
    std::erase_if(others, [&](const ShownFigure& each) {
        return std::any_of(in_story.begin(), in_story.end(),
                           [&](const ShownFigure& other) { return other.figure == each.figure; });
    });
    if (others.empty() && lab.result)
        return centred_sentence(
            "Every figure of this run is in Story. Right click a parameter to sweep it: its figures appear "
            "here.");
    draw_figure_grid(lab, "More", others, "other figures of the family and sweeps of parameters");
}

}  // namespace sawtooth

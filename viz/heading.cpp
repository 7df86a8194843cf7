#include "viz/heading.h"

#include <algorithm>
#include <array>

#include "viz/marks.h"

namespace sawtooth {
namespace {

constexpr float sample_width = 28, small_sample = 12;  // units: for lines; for anything else
constexpr float entry_gap = 16;                        // units between entries

struct Collected {
    const Figure& figure;
    const Theme& theme;
    std::vector<LegendEntry> entries;
    bool has_wrong = false;

    void add(LegendEntry entry) {
        if (entry.label.empty()) return;
        for (LegendEntry& other : entries)
            if (other.label == entry.label && other.stroke.colour == entry.stroke.colour) {
                if (entry.kind == LegendEntry::Kind::line) other = std::move(entry);
                return;
            }
        entries.push_back(std::move(entry));
    }
    void operator()(const Line& line) {
        add({LegendEntry::Kind::line, line.label, stroke_of_line(theme, line), line.ink});
        const auto is_wrong = [](const std::string& words) { return !words.empty(); };
        has_wrong = has_wrong || std::any_of(line.wrong.begin(), line.wrong.end(), is_wrong);
    }
    void operator()(const Band& band) {
        add({LegendEntry::Kind::area, band.label, stroke_of(band.ink, theme), band.ink});
    }
    void operator()(const Matrix& matrix) {
        for (const Matrix::Kind& kind : matrix.kinds)
            add({LegendEntry::Kind::area, kind.label, stroke_of(kind.ink, theme), kind.ink});
    }
    void operator()(const HeatMap& map) {
        for (const HeatMap::Framed& cell : map.framed)
            add({LegendEntry::Kind::frame, cell.label, stroke_of(cell.ink, theme), cell.ink});
    }
    void operator()(const KindMap& map) {
        for (const KindMap::Kind& kind : map.kinds)
            add({LegendEntry::Kind::area, kind.label, stroke_of(kind.ink, theme), kind.ink, kind.pattern});
    }
    void operator()(const Rule& rule) {
        if (is_repeated(figure, rule))
            add({LegendEntry::Kind::line, rule.label, stroke_of(rule.ink, theme), rule.ink});
    }
    template <class Other>
    void operator()(const Other&) {}
};

// Draws in rows and returns the height; ends with "+ 3 more" if `most` rows do not suffice.
float draw_legend(Canvas& canvas, const Theme& theme, const std::vector<LegendEntry>& entries,
                  const Box& area, size_t most) {
    const float unit = canvas.unit(), line = canvas.line_height() + 2 * unit;
    const float more_width = canvas.text_width("+ 99 more") + entry_gap * unit;
    Point at{area.left, area.top + line / 2};
    size_t row = 1;
    for (size_t i = 0; i < entries.size(); ++i) {
        const bool is_line = entries[i].kind == LegendEntry::Kind::line;
        const float sample = (is_line ? sample_width : small_sample) * unit;
        const std::string label = elided(canvas, entries[i].label, area.width() - sample - 8 * unit);
        const float width = sample + 6 * unit + canvas.text_width(label);
        const bool others = i + 1 < entries.size();
        const float room = area.right - (row == most && others ? more_width : 0);
        if (at.x > area.left && at.x + width > room) {
            if (row == most) {
                canvas.text(at, Align::left, {theme.quiet_text},
                            "+ " + std::to_string(entries.size() - i) + " more");
                break;
            }
            at = {area.left, at.y + line};
            ++row;
        }
        draw_sample(canvas, theme, entries[i], at, sample);
        canvas.text({at.x + sample + 6 * unit, at.y}, Align::left, {theme.text}, label);
        at.x += width + entry_gap * unit;
    }
    return line * static_cast<float>(row);
}

}  // namespace

std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme) {
    Collected collected{figure, theme, {}};
    for (const Mark& mark : figure.marks) std::visit(collected, mark);
    if (collected.has_wrong)
        collected.entries.push_back(
            {LegendEntry::Kind::wrong, "wrong result", {{theme.limit}}, {Ink::Role::limit}});
    return collected.entries;
}

void draw_sample(Canvas& canvas, const Theme& theme, const LegendEntry& entry, Point left, float width) {
    const float unit = canvas.unit(), small = small_sample * unit, right = left.x + width;
    const Stroke& stroke = entry.stroke;
    switch (entry.kind) {
        case LegendEntry::Kind::line:
            canvas.path(std::array<Point, 2>{{left, {right, left.y}}}, stroke);
            canvas.marker(stroke.marker, {left.x + width / 2, left.y}, 3.5f * unit, stroke.colour);
            break;
        case LegendEntry::Kind::area:
            draw_kind(canvas, theme, {right - small, left.y - small / 2, right, left.y + small / 2},
                      stroke.colour, entry.pattern);
            break;
        case LegendEntry::Kind::frame:
            draw_frame(canvas, stroke, {right - small, left.y - small / 2, right, left.y + small / 2});
            break;
        case LegendEntry::Kind::wrong:
            draw_wrong_marker(canvas, theme, {right - small / 2, left.y});
            break;
    }
}

Heading draw_heading(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area,
                     const HeadingOptions& options) {
    const float unit = canvas.unit(), line = canvas.line_height();
    const size_t rows =
        static_cast<size_t>(std::max(1.0f, area.height() / (5 * line)));  // limited by the height
    Heading heading{area};
    Box& left = heading.rest;
    if (!figure.title.empty()) {
        canvas.text({left.left, left.top + line / 2}, Align::left, {theme.text},
                    elided(canvas, figure.title, left.width() - options.reserved));
        left.top += line + 2 * unit;
    }
    // A low figure keeps its height for the data.
    const size_t caption_lines =
        area.height() < 14 * line ? (options.legend ? 0 : 1) : std::min<size_t>(rows, 2);
    const float caption_height = line * static_cast<float>(caption_lines) + 2 * unit;
    if (!figure.caption.empty() && caption_lines > 0 &&
        area.height() > least_height(canvas, figure) + caption_height) {
        const auto lines = wrapped(canvas, figure.caption, left.width(), caption_lines);
        for (const std::string& text : lines) {
            canvas.text({left.left, left.top + line / 2}, Align::left, {theme.quiet_text}, text);
            left.top += line;
        }
        heading.caption_cut = lines.back().ends_with("…") && !figure.caption.ends_with("…");
        left.top += 2 * unit;
    } else {
        heading.caption_cut = !figure.caption.empty();
    }
    if (!options.legend) return heading;
    if (const auto entries = legend_of(figure, theme); !entries.empty())
        left.top += draw_legend(canvas, theme, entries, left, std::min<size_t>(rows, 4)) + 2 * unit;
    return heading;
}

void draw_missing(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area) {
    const float line = canvas.line_height();
    const auto lines = wrapped(canvas, figure.missing, std::min(area.width() - 4 * line, 40 * line), 6);
    float y = area.middle() - line * static_cast<float>(lines.size()) / 2 + line / 2;
    for (const std::string& text : lines) {
        canvas.text({(area.left + area.right) / 2, y}, Align::centre, {theme.quiet_text}, text);
        y += line;
    }
}

}  // namespace sawtooth

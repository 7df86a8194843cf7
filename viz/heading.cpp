#include "viz/heading.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "viz/marks.h"

namespace sawtooth {
namespace {

constexpr float sample_width = 28, small_sample = 12;  // in units: of lines, and of all other samples
constexpr float entry_gap = 16;                        // in units

bool has_words(const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [](const std::string& each) { return !each.empty(); });
}

struct Collected {
    const Figure& figure;
    const Theme& theme;
    std::vector<LegendEntry> entries;
    bool has_unstable = false, has_wrong = false;

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
        add({line.joined ? LegendEntry::Kind::line : LegendEntry::Kind::point, line.label,
             stroke_of_line(theme, line), line.ink});
        has_wrong = has_wrong || has_words(line.wrong);
        has_unstable = has_unstable || has_words(line.unstable);
    }
    void operator()(const Band& band) {
        add({LegendEntry::Kind::area, band.label, stroke_of(band.ink, theme), band.ink});
    }
    void operator()(const Matrix& matrix) {
        for (const Matrix::Kind& kind : matrix.kinds)
            add({LegendEntry::Kind::area, kind.label, stroke_of(kind.ink, theme), kind.ink});
    }
    void operator()(const HeatMap& map) {
        has_unstable = has_unstable || has_words(map.unstable);
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

// Draws the legend in rows at the top of the rest; ends with "+ 3 more" if `most` rows are not enough.
void draw_legend(Canvas& canvas, const Theme& theme, const std::vector<LegendEntry>& entries, size_t most,
                 Heading& heading) {
    const Box& area = heading.rest;
    const float unit = canvas.unit(), line = canvas.line_height() + 2 * unit;
    const float more_width = canvas.text_width("+ 99 more") + entry_gap * unit;
    Point at{area.left, area.top + line / 2};
    size_t row = 1;
    for (size_t i = 0; i < entries.size(); ++i) {
        const bool is_line = entries[i].kind == LegendEntry::Kind::line;
        const float sample = (is_line ? sample_width : small_sample) * unit;
        const bool others = i + 1 < entries.size();
        const float room = area.right - (row == most && others ? more_width : 0);
        const std::string label = elided(canvas, entries[i].label, room - area.left - sample - 8 * unit);
        const float width = sample + 6 * unit + canvas.text_width(label);
        if (at.x > area.left && at.x + width > room) {
            if (row == most) {
                canvas.text(at, Align::left, {theme.quiet_text},
                            "+ " + std::to_string(entries.size() - i) + " more");
                heading.legend_cut = true;
                break;
            }
            at = {area.left, at.y + line};
            ++row;
        }
        draw_sample(canvas, theme, entries[i], at, sample);
        canvas.text({at.x + sample + 6 * unit, at.y}, Align::left, {theme.text}, label);
        at.x += width + entry_gap * unit;
    }
    heading.rest.top += line * static_cast<float>(row) + 2 * unit;
}

// The largest number of whole sentences of a caption that fits; only a first sentence that is too long is
// cut.
struct Caption {
    std::vector<std::string> lines;
    bool is_whole = true, is_elided = false;
};

Caption caption_in(const Canvas& canvas, const std::string& caption, float width, size_t most) {
    if (caption.empty() || most == 0) return {{}, caption.empty(), false};
    const auto fits = [&](const std::vector<std::string>& lines) { return lines.size() <= most; };
    // With room for one more line than allowed, nothing within the allowed lines is cut.
    Caption found{wrapped(canvas, caption, width, most + 1), true};
    for (size_t end = caption.size(); !fits(found.lines);) {
        end = caption.rfind(". ", end - 1);
        if (end == std::string::npos || end == 0) return {wrapped(canvas, caption, width, most), false, true};
        found = {wrapped(canvas, std::string_view(caption).substr(0, end + 1), width, most + 1), false};
    }
    return found;
}

// A title such as "y, sequence 0, channel 3", without the last parts if there is no room: controls beside it
// show them.
std::string fitting_title(const Canvas& canvas, std::string_view title, float width) {
    while (canvas.text_width(title) > width) {
        const size_t comma = title.rfind(", ");
        if (comma == title.npos) break;
        title = title.substr(0, comma);
    }
    return elided(canvas, title, width);
}

}  // namespace

std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme) {
    Collected collected{figure, theme, {}};
    for (const Mark& mark : figure.marks) std::visit(collected, mark);
    // Pinned results come last: they would leave no room for the shown one.
    std::stable_partition(collected.entries.begin(), collected.entries.end(),
                          [](const LegendEntry& entry) { return entry.ink.ghost == 0; });
    if (collected.has_unstable)
        collected.entries.push_back(
            {LegendEntry::Kind::unstable, "unstable time", {{theme.text}}, {Ink::Role::quiet}});
    if (collected.has_wrong)
        collected.entries.push_back(
            {LegendEntry::Kind::wrong, "wrong result", {{theme.wrong}}, {Ink::Role::quiet}});
    return collected.entries;
}

std::vector<LegendEntry> legend_without_variants(const Figure& figure, const Theme& theme) {
    std::vector<LegendEntry> entries = legend_of(figure, theme), others;
    std::set<int> variants;
    for (const LegendEntry& entry : entries)
        if (entry.ink.role == Ink::Role::variant) variants.insert(entry.ink.index);
    for (LegendEntry& entry : entries) {
        if (entry.ink.role == Ink::Role::variant) {
            const size_t comma = entry.label.find(", ");
            if (comma == std::string::npos) continue;
            entry.label.erase(0, comma + 2);
            // A sample that stands for several variants has no colour.
            const Marker shape = entry.kind == LegendEntry::Kind::point ? entry.stroke.marker : Marker::none;
            if (variants.size() > 1) entry.stroke = stroke_of({Ink::Role::quiet, 0, entry.ink.dashed}, theme);
            if (shape != Marker::none) entry.stroke.marker = shape;
        }
        const auto is_there = [&](const LegendEntry& other) { return other.label == entry.label; };
        if (std::none_of(others.begin(), others.end(), is_there)) others.push_back(std::move(entry));
    }
    // If a row is too short for all entries, the marks of results come first.
    std::stable_partition(others.begin(), others.end(), [](const LegendEntry& entry) {
        return entry.kind == LegendEntry::Kind::unstable || entry.kind == LegendEntry::Kind::wrong;
    });
    return others;
}

void draw_sample(Canvas& canvas, const Theme& theme, const LegendEntry& entry, Point left, float width) {
    const float unit = canvas.unit(), small = small_sample * unit, right = left.x + width;
    const Stroke& stroke = entry.stroke;
    switch (entry.kind) {
        case LegendEntry::Kind::line:
            canvas.path(std::array<Point, 2>{{left, {right, left.y}}}, stroke);
            canvas.marker(stroke.marker, {left.x + width / 2, left.y}, 3.5f * unit, stroke.colour);
            break;
        case LegendEntry::Kind::point:
            canvas.marker(stroke.marker, {right - small / 2, left.y}, 3.5f * unit, stroke.colour);
            break;
        case LegendEntry::Kind::area:
            draw_kind(canvas, theme, {right - small, left.y - small / 2, right, left.y + small / 2},
                      stroke.colour, entry.pattern);
            break;
        case LegendEntry::Kind::frame:
            draw_frame(canvas, stroke, {right - small, left.y - small / 2, right, left.y + small / 2});
            break;
        case LegendEntry::Kind::unstable:
            draw_unstable_marker(canvas, theme, {right - small / 2, left.y}, stroke.colour);
            break;
        case LegendEntry::Kind::wrong:
            draw_wrong_marker(canvas, theme, {right - small / 2, left.y});
            break;
    }
}

Heading draw_heading(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area,
                     const HeadingOptions& options) {
    const float unit = canvas.unit(), line = canvas.line_height();
    // The height limits the number of rows; beside a legend of variants less needs to be said.
    const auto rows =
        static_cast<size_t>(std::max(1.0f, area.height() / ((options.variants ? 5 : 9) * line)));
    Heading heading{area};
    Box& left = heading.rest;
    if (!figure.title.empty()) {
        canvas.text({left.left, left.top + line / 2}, Align::left, {theme.text},
                    fitting_title(canvas, figure.title, left.width() - options.reserved));
        left.top += line + 2 * unit;
    }
    const auto entries = options.variants ? legend_of(figure, theme) : legend_without_variants(figure, theme);
    // A low figure keeps its height for the data: the caption gets one line, if its first sentence fits into
    // that.
    const float legend = entries.empty() ? 0 : line;
    const size_t most = area.height() < 6 * line    ? 0
                        : area.height() < 9 * line  ? 1
                        : area.height() < 18 * line ? 2
                        : options.variants          ? 5  // a saved picture has no tooltip
                                                    : 2;
    const bool is_low = area.height() - legend < 10 * line;
    const auto has_room = [&](size_t lines) {
        return area.height() > least_height(canvas, figure) + line * static_cast<float>(lines) + 2 * unit;
    };
    size_t caption_lines = most;
    while (caption_lines > 0 && !has_room(caption_lines)) --caption_lines;
    Caption lines = caption_in(canvas, figure.caption, left.width(), caption_lines);
    if (is_low && lines.lines.size() > 1)
        if (Caption short_one = caption_in(canvas, figure.caption, left.width(), 1); !short_one.is_elided)
            lines = std::move(short_one);
    heading.caption_cut = !lines.is_whole;
    for (const std::string& text : lines.lines) {
        canvas.text({left.left, left.top + line / 2}, Align::left, {theme.quiet_text}, text);
        left.top += line;
    }
    if (!lines.lines.empty()) left.top += 2 * unit;
    if (!entries.empty()) draw_legend(canvas, theme, entries, std::min<size_t>(rows, 4), heading);
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

#include "viz/marks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <type_traits>

namespace sawtooth {
namespace {

constexpr size_t most_dashed_points = 256;  // beyond this, dashes along a noisy line would look like noise
constexpr float between_markers = 96;       // in units, if not every point has a marker
constexpr float marker_radius = 3.5f, wrong_radius = 5.25f;

// The first x from `left` on where a text of that width is not crossed by a rule.
float clear_of_rules(const Pen& pen, float left, float width) {
    const float gap = 4 * pen.canvas.unit();
    for (float line : pen.rules)
        if (line > left - gap && line < left + width + gap) left = line + gap;
    return left;
}

// Draws a text inside the box, unless it does not fit or would overlap `whisker`.
void text_inside(const Pen& pen, const Box& box, const Box& whisker, uint32_t ground,
                 const std::string& text) {
    if (text.empty() || box.height() < pen.canvas.line_height() * 0.9f) return;
    const float gap = 4 * pen.canvas.unit(), width = pen.canvas.text_width(text);
    const float left = clear_of_rules(pen, box.left + gap, width), right = left + width + gap;
    if (right > box.right || (left - gap < whisker.right && right > whisker.left)) return;
    pen.canvas.text({left, box.middle()}, Align::left, {ink_on(ground)}, text);
}

// The visible end of bar and whisker: a much longer whisker would leave no room for the bars.
double seen_end(const Bars& bars, const Bar& bar) {
    const double end = length_of(bar);
    const double seen = std::max(end, std::min(bar.high.value_or(end), 1.25 * end));
    return bars.most ? std::min(seen, *bars.most) : seen;
}

bool is_broken(const Bars& bars, const Bar& bar) { return bars.most && length_of(bar) > *bars.most; }

// The box of the quartiles over the end of a bar; absent if the bar has none, or is broken off before them.
std::optional<Box> whisker_of(const Pen& pen, const Bars& bars, const Bar& bar, float middle, float half) {
    if (!bar.low || !bar.high || (bars.most && *bar.low >= *bars.most)) return {};
    return Box{pen.frame.at_x(*bar.low), middle - half * 0.4f, pen.frame.at_x(seen_end(bars, bar)),
               middle + half * 0.4f};
}

// Draws two slanted cuts through a bar, before its end.
void draw_break(const Pen& pen, const Box& bar) {
    const float unit = pen.canvas.unit(), lean = 3 * unit;
    for (const float before : {14 * unit, 8 * unit}) {
        const float x = bar.right - before;
        pen.canvas.path(std::array<Point, 2>{{{x - lean, bar.bottom + unit}, {x + lean, bar.top - unit}}},
                        {{pen.theme.ground}, 3});
    }
}

// The tick has an edge in the colour of the ground, as it may lie on any bar.
void draw_tick(const Pen& pen, Point at, float half) {
    const std::array<Point, 2> line{{{at.x, at.y - half}, {at.x, at.y + half}}};
    pen.canvas.path(line, {{pen.theme.ground}, 5});
    pen.canvas.path(line, {{pen.theme.text}, 2});
}

void draw_whisker(const Pen& pen, const Box& box, bool goes_on) {
    const Stroke stroke{{pen.theme.text}, 1.5f};
    const float back = goes_on ? box.height() / 2 : 0;  // length of an arrow head
    for (const auto& [from, to] :
         {std::pair<Point, Point>{{box.left, box.middle()}, {box.right, box.middle()}},
          {{box.left, box.top}, {box.left, box.bottom}},
          {{box.right - back, box.top}, {box.right, box.middle()}},
          {{box.right, box.middle()}, {box.right - back, box.bottom}}})
        pen.canvas.path(std::array{from, to}, stroke);
}

// Draws a badge in a frame from its left end on, in the colour of wrong results; a crossed ring if it would
// be cut.
void draw_bar_badge(const Pen& pen, Point left, const std::string& words) {
    const float unit = pen.canvas.unit(), half = pen.canvas.line_height() / 2;
    const float width = pen.canvas.text_width(words) + 8 * unit;
    if (left.x + width > pen.frame.box.right) {
        const float ring = wrong_radius * unit;
        draw_wrong_marker(pen.canvas, pen.theme,
                          {std::min(left.x, pen.frame.box.right - 2 * ring) + ring, left.y});
        return;
    }
    const Box box{left.x, left.y - half, left.x + width, left.y + half};
    pen.canvas.box(box, {pen.theme.wrong, 0.2f});
    pen.canvas.outline(box, {pen.theme.wrong});
    pen.canvas.text({left.x + 4 * unit, left.y}, Align::left, {pen.theme.text}, words);
}

void draw_bar_texts(const Pen& pen, const Bars& bars) {
    const float unit = pen.canvas.unit(), half = pen.canvas.line_height() / 2;
    for (const size_t i : rows_with_text(pen.canvas, pen.frame, bars)) {
        const Bar& bar = bars.bars[i];
        const Point tip = pen.frame.at(seen_end(bars, bar), static_cast<double>(i));
        float left = std::max(tip.x, pen.frame.box.left) + 8 * unit;
        // The text starts after a tick that would cross it.
        const float tick = bar.tick ? pen.frame.at_x(bar.tick->length) : tip.x;
        if (tick > tip.x && tick < left + pen.canvas.text_width(bar.text)) left = tick + 8 * unit;
        const std::string text = elided(pen.canvas, bar.text, pen.frame.box.right - 4 * unit - left);
        const float right = left + pen.canvas.text_width(text);
        // A rule of a limit is interrupted where it would cross the text.
        for (float rule : pen.rules)
            if (rule > left - 2 * unit && rule < right + 2 * unit)
                pen.canvas.box({rule - 2 * unit, tip.y - half, rule + 2 * unit, tip.y + half},
                               {pen.theme.ground});
        pen.canvas.text({left, tip.y}, Align::left, {pen.theme.text}, text);
        if (!bar.badge.empty()) draw_bar_badge(pen, {right + 8 * unit, tip.y}, bar.badge);
    }
}

void draw_strokes(const Pen& pen, const Line& line) {
    if (!line.joined) return;
    const Stroke stroke = stroke_of_line(pen.theme, line);
    for_each_run(pen, line.x, line.y, [&](std::span<const Point> run) {
        // A value between two gaps is drawn as a point.
        if (run.size() == 1)
            return pen.canvas.marker(Marker::circle, run[0], 2 * stroke.width * pen.canvas.unit(),
                                     stroke.colour);
        if (pen.over_cells) pen.canvas.path(run, {{pen.theme.ground}, stroke.width + 2});
        pen.canvas.path(run, stroke);
    });
}

// The distance that a line goes up and down, in pixels.
double covered_height(const Pen& pen, const Line& line) {
    double height = 0;
    for_each_run(pen, line.x, line.y, [&](std::span<const Point> run) {
        for (size_t i = 0; i + 1 < run.size(); ++i) height += std::abs(run[i + 1].y - run[i].y);
    });
    return height;
}

}  // namespace

void for_each_run(const Pen& pen, const std::vector<double>& x, const std::vector<double>& y,
                  const std::function<void(std::span<const Point>)>& use) {
    std::vector<Point> run;
    for (size_t i = 0; i <= x.size(); ++i) {
        if (i < x.size() && !std::isnan(y[i]) && !std::isnan(x[i])) {
            run.push_back(pen.frame.at(x[i], y[i]));
        } else if (!run.empty()) {
            use(run);
            run.clear();
        }
    }
}

Pen pen_for(Canvas& canvas, const Theme& theme, const Frame& frame, const Figure& figure) {
    Pen pen{canvas, theme, frame, {}, {}};
    for (const Mark& mark : figure.marks) {
        pen.over_cells |= std::holds_alternative<HeatMap>(mark) || std::holds_alternative<KindMap>(mark);
        if (const Rule* rule = std::get_if<Rule>(&mark); rule && rule->across == Rule::Across::x)
            pen.rules.push_back(frame.at_x(rule->at));
        const Line* line = std::get_if<Line>(&mark);
        if (line && line->joined && line->ink.role == Ink::Role::variant &&
            std::is_sorted(line->x.begin(), line->x.end()) &&
            stroke_of_line(theme, *line).dash == Dash::solid)
            pen.crowded.push_back(line);
    }
    if (pen.crowded.size() == 1) pen.crowded.clear();
    // Rounded to steps of 5 %, so that lines that nearly agree do not change places.
    std::map<const Line*, long> covered;
    for (const Line* line : pen.crowded)
        covered[line] = std::lround(20 * std::log(1 + covered_height(pen, *line)));
    std::stable_sort(pen.crowded.begin(), pen.crowded.end(),
                     [&](const Line* one, const Line* other) { return covered[one] > covered[other]; });
    std::sort(pen.rules.begin(), pen.rules.end());
    return pen;
}

Stroke stroke_of_line(const Theme& theme, const Line& line) {
    Stroke stroke = stroke_of(line.ink, theme);
    if (!line.ink.dashed && (line.markers || line.x.size() > most_dashed_points)) stroke.dash = Dash::solid;
    if ((line.markers || !line.joined) && stroke.marker == Marker::none) stroke.marker = Marker::circle;
    if (!line.joined) stroke.dash = Dash::solid;
    if (!line.joined && line.ink.dashed) stroke.marker = Marker::cross;
    return stroke;
}

bool is_crowded(const Pen& pen, const Line& line) {
    return std::find(pen.crowded.begin(), pen.crowded.end(), &line) != pen.crowded.end();
}

void draw_crowded(const Pen& pen) {
    for (const Line* line : pen.crowded) draw_strokes(pen, *line);
    for (const Line* line : pen.crowded) draw_markers(pen, *line);
}

namespace {

// Draws every point. Many points are small, so that places with many of them can be told from places with
// few; named ones are, because they are parts of another one.
void draw_points(const Pen& pen, const Line& line) {
    constexpr size_t few = 32;
    const Stroke stroke = stroke_of_line(pen.theme, line);
    const bool are_many = line.x.size() > few;
    const Marker shape = are_many && !line.ink.dashed ? Marker::circle : stroke.marker;
    const float radius = (are_many             ? 0.5f
                          : line.names.empty() ? 1.0f
                                               : 0.7f) *
                         marker_radius * pen.canvas.unit();
    for (size_t i = 0; i < line.x.size(); ++i) {
        if (std::isnan(line.x[i]) || std::isnan(line.y[i])) continue;
        const Point at = pen.frame.at(line.x[i], line.y[i]);
        if (pen.frame.box.contains(at)) pen.canvas.marker(shape, at, radius, stroke.colour);
    }
}

}  // namespace

void draw_markers(const Pen& pen, const Line& line) {
    if (!line.joined) return draw_points(pen, line);
    const Stroke stroke = stroke_of_line(pen.theme, line);
    const float unit = pen.canvas.unit(), apart = between_markers * unit;
    const bool every = line.markers && static_cast<float>(line.x.size()) * 8 * unit < pen.frame.box.width();
    // Lines that overlap show their markers alternately.
    float next = pen.frame.box.left + apart * static_cast<float>(line.ink.index % 6 + 1) / 7;
    for (size_t i = 0; i < line.x.size(); ++i) {
        if (std::isnan(line.y[i])) continue;
        const Point at = pen.frame.at(line.x[i], line.y[i]);
        if (!pen.frame.box.contains(at) || (!every && at.x < next)) continue;
        while (next <= at.x) next += apart;
        pen.canvas.marker(stroke.marker, at, marker_radius * unit, stroke.colour);
    }
}

std::string label_of_point(const Line& line, size_t point) {
    return line.names.empty() ? line.label : line.label + ": " + line.names[point];
}

void draw_marked_points(const Pen& pen, const Figure& figure) {
    const auto each = [&](const Line& line, const std::vector<std::string>& words, auto draw_one) {
        for (size_t i = 0; i < words.size(); ++i) {
            if (words[i].empty() || std::isnan(line.y[i])) continue;
            const Point at = pen.frame.at(line.x[i], line.y[i]);
            if (pen.frame.box.contains(at)) draw_one(at);
        }
    };
    for (const Mark& mark : figure.marks) {
        const Line* const line = std::get_if<Line>(&mark);
        if (!line) continue;
        each(*line, line->unstable, [&](Point at) {
            draw_unstable_marker(pen.canvas, pen.theme, at, stroke_of_line(pen.theme, *line).colour);
        });
        each(*line, line->wrong, [&](Point at) { draw_wrong_marker(pen.canvas, pen.theme, at); });
    }
}

void draw_unstable_marker(Canvas& canvas, const Theme& theme, Point at, Colour ring) {
    canvas.marker(Marker::circle, at, 4.5f * canvas.unit(), ring);
    canvas.marker(Marker::circle, at, 3 * canvas.unit(), {theme.ground});
}

void draw_wrong_marker(Canvas& canvas, const Theme& theme, Point at) {
    const float radius = wrong_radius * canvas.unit();
    std::array<Point, 25> ring;
    for (size_t i = 0; i < ring.size(); ++i) {
        const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / (ring.size() - 1);
        ring[i] = {at.x + radius * std::cos(angle), at.y + radius * std::sin(angle)};
    }
    canvas.marker(Marker::circle, at, radius, {theme.ground});
    canvas.path(ring, {{theme.wrong}, 1.5f});
    canvas.marker(Marker::cross, at, 0.8f * radius, {theme.wrong});
}

void draw(const Pen& pen, const Line& line) {
    if (is_crowded(pen, line)) return;
    draw_strokes(pen, line);
    draw_markers(pen, line);
}

void draw(const Pen& pen, const Band& band) {
    const Colour colour = stroke_of(band.ink, pen.theme).colour.faded(0.28f);
    std::vector<Point> low, high;
    for (size_t i = 0; i <= band.x.size(); ++i) {
        if (i < band.x.size() && !std::isnan(band.low[i]) && !std::isnan(band.high[i])) {
            low.push_back(pen.frame.at(band.x[i], band.low[i]));
            high.push_back(pen.frame.at(band.x[i], band.high[i]));
        } else if (!low.empty()) {
            if (low.size() > 1) pen.canvas.strip(low, high, colour);
            low.clear(), high.clear();
        }
    }
}

namespace {

// Draws the segments of a bar; returns its box.
Box draw_segments(const Pen& pen, const Bars& bars, const Bar& bar, const Box& row, const Box& whisker) {
    const Colour colour = stroke_of(bar.ink, pen.theme).colour;
    const double most = bars.most.value_or(std::numeric_limits<double>::infinity());
    double end = 0;
    Box whole = row;
    whole.right = row.left;
    for (size_t s = 0; s < bar.segments.size(); ++s) {
        end += bar.segments[s].length;
        Box box = row;
        box.left = whole.right;
        box.right = whole.right = std::max(whole.right, pen.frame.at_x(std::min(end, most)));
        if (box.width() > 3 * pen.canvas.unit() && s + 1 < bar.segments.size())
            box.right -= pen.canvas.unit();
        const Colour fill = shade(colour, s);
        pen.canvas.box(box, fill);
        text_inside(pen, box, whisker, blend(pen.theme.ground, fill), bar.segments[s].label);
    }
    return whole;
}

}  // namespace

void draw(const Pen& pen, const Bars& bars) {
    const float unit = pen.canvas.unit();
    for (size_t i = 0; i < bars.bars.size(); ++i) {
        const Bar& bar = bars.bars[i];
        const double at = static_cast<double>(i);
        const float middle = pen.frame.at_y(at);
        const float half = std::min(std::fabs(pen.frame.at_y(at + 0.34) - middle), 14 * unit);
        const Box row{pen.frame.box.left, middle - half, pen.frame.box.right, middle + half};
        const std::optional<Box> whisker = whisker_of(pen, bars, bar, middle, half);
        if (pen.frame.scale_x == Scale::linear) {
            const Box whole =
                draw_segments(pen, bars, bar, row, whisker.value_or(Box{-1e9f, middle, -1e9f, middle}));
            if (is_broken(bars, bar)) draw_break(pen, whole);
        } else if (!bar.segments.empty()) {  // a length would have no meaning here: a point
            const Stroke stroke = stroke_of(bar.ink, pen.theme);
            pen.canvas.marker(stroke.marker, pen.frame.at(length_of(bar), at), 5 * unit, stroke.colour);
        }
        if (whisker) draw_whisker(pen, *whisker, *bar.high > seen_end(bars, bar));
        if (bar.tick) draw_tick(pen, {pen.frame.at_x(bar.tick->length), middle}, half + 3 * unit);
    }
}

void draw_rules(const Pen& pen, const Figure& figure) {
    const Box& box = pen.frame.box;
    float drawn[2] = {-1e9f, -1e9f};  // position of the last quiet rule in each direction
    for (const Mark& mark : figure.marks) {
        const Rule* rule = std::get_if<Rule>(&mark);
        if (!rule) continue;
        const bool vertical = rule->across == Rule::Across::x;
        const float at = vertical ? pen.frame.at_x(rule->at) : pen.frame.at_y(rule->at);
        if (vertical ? at < box.left - 1 || at > box.right + 1 : at < box.top - 1 || at > box.bottom + 1)
            continue;
        if (rule->ink.role == Ink::Role::quiet) {
            if (std::fabs(at - drawn[vertical]) < 4 * pen.canvas.unit()) continue;
            drawn[vertical] = at;
        }
        const std::array ends = vertical ? std::array<Point, 2>{{{at, box.top}, {at, box.bottom}}}
                                         : std::array<Point, 2>{{{box.left, at}, {box.right, at}}};
        pen.canvas.path(ends, stroke_of(rule->ink, pen.theme));
    }
}

void draw_rule_labels(const Pen& pen, const Figure& figure, const Layout& layout) {
    for (const RuleLabel& label : rule_labels(pen.canvas, figure, pen.frame, layout)) {
        const Ink& ink = label.rule->ink;
        const Colour colour =
            ink.role == Ink::Role::quiet ? Colour{pen.theme.quiet_text} : stroke_of(ink, pen.theme).colour;
        float y = label.box.top + pen.canvas.line_height() / 2;
        for (const std::string& line : label.lines) {
            pen.canvas.text({label.box.left, y}, Align::left, colour, line);
            y += pen.canvas.line_height();
        }
    }
}

void draw_texts(const Pen& pen, const Figure& figure) {
    for (const Mark& mark : figure.marks)
        if (const Bars* bars = std::get_if<Bars>(&mark)) draw_bar_texts(pen, *bars);
    draw_notes(pen, figure);
}

void draw_marks(const Pen& pen, const Figure& figure) {
    for (const Mark& mark : figure.marks)
        if (const Band* band = std::get_if<Band>(&mark)) draw(pen, *band);
    const auto draw_other = [&](const auto& mark) {
        if constexpr (requires { draw(pen, mark); } && !std::is_same_v<std::decay_t<decltype(mark)>, Band>)
            draw(pen, mark);
    };
    for (const Mark& mark : figure.marks) std::visit(draw_other, mark);
    draw_crowded(pen);
    draw_marked_points(pen, figure);
}

}  // namespace sawtooth

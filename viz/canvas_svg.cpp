#include "viz/canvas_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sawtooth {
namespace {

constexpr float font_size = 12;

// A length with at most two decimals.
std::string px(double value) {
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

// The attribute `fill` or `stroke` with its opacity.
std::string paint(const char* attribute, Colour colour) {
    std::string text = fmt::format(R"( {}="#{:06x}")", attribute, colour.rgb);
    if (colour.alpha < 1) text += fmt::format(R"( {}-opacity="{}")", attribute, px(colour.alpha));
    return text;
}

// The points of a path as absolute commands; `first` is the command of the first point.
std::string points_of(std::span<const Point> points, char first = 'M') {
    std::string text;
    for (const Point& point : points) {
        text += fmt::format("{}{} {}", first, px(point.x), px(point.y));
        first = 'L';
    }
    return text;
}

// A number of tenths, preceded by a space unless its sign separates it.
std::string tenths_text(int64_t tenths) {
    const int64_t size = std::abs(tenths);
    std::string text = tenths < 0 ? "-" : " ";
    if (size >= 10) text += std::to_string(size / 10);
    if (size % 10 != 0) text += '.', text += static_cast<char>('0' + size % 10);
    return size == 0 ? " 0" : text;
}

// The commands of a long path. In tenths of a unit, with each point relative to the previous one, they take a
// third of the text. Points that coincide with the previous one are left out.
std::string long_path(std::span<const Point> points) {
    const auto tenths = [](float value) { return std::llround(std::clamp(value, -1e6f, 1e6f) * 10.0); };
    int64_t x = tenths(points.front().x), y = tenths(points.front().y);
    std::string text = "M" + tenths_text(x).substr(x >= 0 ? 1 : 0) + tenths_text(y);
    char command = 'm';
    for (const Point& point : points.subspan(1)) {
        const int64_t dx = tenths(point.x) - x, dy = tenths(point.y) - y;
        if (dx == 0 && dy == 0) continue;
        x += dx, y += dy;
        const char next = dy == 0 ? 'h' : dx == 0 ? 'v' : 'l';
        const std::string numbers = next == 'h'   ? tenths_text(dx)
                                    : next == 'v' ? tenths_text(dy)
                                                  : tenths_text(dx) + tenths_text(dy);
        if (next != command) text += next;
        text += next != command && numbers.front() == ' ' ? numbers.substr(1) : numbers;
        command = next;
    }
    return text;
}

std::string path_of(std::span<const Point> points) {
    return points.size() > 2 ? long_path(points) : points_of(points);
}

// The advance of a character in units of the font size: at least that of Roboto and Arial.
float advance(unsigned char c) {
    if (std::string_view("ijl|.,:;'!I").find(static_cast<char>(c)) != std::string_view::npos) return 0.30f;
    if (std::string_view("ftr ()[]-/").find(static_cast<char>(c)) != std::string_view::npos) return 0.37f;
    if (std::string_view("mwMW@%").find(static_cast<char>(c)) != std::string_view::npos) return 0.92f;
    if (c >= 'A' && c <= 'Z') return 0.70f;
    if (c == '+' || c == '=' || c == '<' || c == '>' || c >= 0x80) return 0.7f;
    return 0.58f;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    for (char c : text) switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                // XML 1.0 has no other control characters.
                safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    return safe;
}

float SvgCanvas::text_width(std::string_view text) const {
    float width = 0;
    for (unsigned char c : text)
        if ((c & 0xC0) != 0x80) width += advance(c);
    return width * font_size;
}

void SvgCanvas::clip(const Box& box) {
    // An inner <svg> clips to its rectangle and needs no identifiers, which would clash within a report.
    elements_ += fmt::format(R"(<svg x="{0}" y="{1}" width="{2}" height="{3}" viewBox="{0} {1} {2} {3}">)",
                             px(box.left), px(box.top), px(box.width()), px(box.height())) +
                 "\n";
}

void SvgCanvas::path(std::span<const Point> points, const Stroke& stroke) {
    elements_ += fmt::format(R"(<path d="{}" fill="none"{} stroke-width="{}" stroke-linejoin="round")",
                             path_of(points), paint("stroke", stroke.colour), px(stroke.width));
    if (const auto pattern = pattern_of(stroke.dash); !pattern.empty()) {
        elements_ += R"( stroke-dasharray=")";
        for (const float& length : pattern)
            elements_ += px(length) + (&length == &pattern.back() ? "\"" : " ");
    }
    elements_ += "/>\n";
}

void SvgCanvas::strip(std::span<const Point> one, std::span<const Point> other, Colour colour) {
    std::vector<Point> edge(one.begin(), one.end());
    edge.insert(edge.end(), other.rbegin(), other.rend());
    elements_ += fmt::format(R"(<path d="{}z"{}/>)", path_of(edge), paint("fill", colour)) + "\n";
}

void SvgCanvas::box(const Box& box, Colour colour) {
    elements_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"{}/>)", px(box.left), px(box.top),
                             px(std::max(box.width(), 0.0f)), px(std::max(box.height(), 0.0f)),
                             paint("fill", colour)) +
                 "\n";
}

void SvgCanvas::outline(const Box& box, Colour colour) {
    elements_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none"{}/>)", px(box.left),
                             px(box.top), px(box.width()), px(box.height()), paint("stroke", colour)) +
                 "\n";
}

void SvgCanvas::marker(Marker shape, Point at, float r, Colour colour) {
    if (shape == Marker::none) return;
    if (shape == Marker::circle) {
        elements_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}"{}/>)", px(at.x), px(at.y), px(r),
                                 paint("fill", colour)) +
                     "\n";
        return;
    }
    if (shape == Marker::plus || shape == Marker::cross) {
        const float d = shape == Marker::cross ? r * 0.75f : 0, o = shape == Marker::cross ? d : r;
        const Stroke stroke{colour, 1.5f};
        path(std::array<Point, 2>{{{at.x - o, at.y - d}, {at.x + o, at.y + d}}}, stroke);
        path(std::array<Point, 2>{{{at.x + d, at.y - o}, {at.x - d, at.y + o}}}, stroke);
        return;
    }
    std::vector<Point> corners;
    const float s = r * 0.85f;
    if (shape == Marker::square)
        corners = {{at.x - s, at.y - s}, {at.x + s, at.y - s}, {at.x + s, at.y + s}, {at.x - s, at.y + s}};
    if (shape == Marker::diamond)
        corners = {{at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}};
    if (shape == Marker::triangle_up)
        corners = {{at.x, at.y - r}, {at.x + r, at.y + s}, {at.x - r, at.y + s}};
    if (shape == Marker::triangle_down)
        corners = {{at.x, at.y + r}, {at.x - r, at.y - s}, {at.x + r, at.y - s}};
    elements_ += fmt::format(R"(<path d="{}Z"{}/>)", points_of(corners), paint("fill", colour)) + "\n";
}

void SvgCanvas::cells(const Box& box, const CellGrid& grid, const ColourScale& colours) {
    // One path per colour, made of runs of equal cells; the eye distinguishes about 64 colours. A cell is a
    // unit square, and a run is a line as thick as a cell is high.
    constexpr double shades = 63;
    std::map<uint32_t, std::string> paths;
    for (int64_t row = 0; row < grid.rows; ++row) {
        const double* values = grid.values.data() + row * grid.columns;
        const auto colour_at = [&](int64_t column) {
            return sample(
                colours.map,
                std::round(std::clamp(colours.share_of(values[column]), 0.0, 1.0) * shades) / shades);
        };
        for (int64_t column = 0; column < grid.columns;) {
            if (std::isnan(values[column])) {
                ++column;
                continue;
            }
            int64_t end = column + 1;
            const uint32_t colour = colour_at(column);
            while (end < grid.columns && !std::isnan(values[end]) && colour_at(end) == colour) ++end;
            paths[colour] += fmt::format("M{} {}h{}", column, row, end - column);
            column = end;
        }
    }
    const double width = box.width() / static_cast<double>(grid.columns),
                 height = box.height() / static_cast<double>(grid.rows);
    elements_ += fmt::format(R"_(<g transform="translate({} {}) scale({:.6g} {:.6g})" )_"
                             R"_(shape-rendering="crispEdges">)_"
                             "\n",
                             px(box.left), px(box.top + height / 2), width, height);
    for (const auto& [colour, path] : paths)
        elements_ += fmt::format(R"(<path d="{}" stroke="#{:06x}"/>)", path, colour) + "\n";
    elements_ += "</g>\n";
}

void SvgCanvas::text(Point place, Align align, Colour colour, std::string_view text) {
    if (text.empty()) return;
    const char* anchor = align == Align::left     ? ""
                         : align == Align::centre ? R"( text-anchor="middle")"
                                                  : R"( text-anchor="end")";
    // The baseline lies a third of the font size below the middle of the line.
    elements_ += fmt::format(R"(<text x="{}" y="{}"{}{}>{}</text>)", px(place.x),
                             px(place.y + font_size * 0.35f), anchor, paint("fill", colour), escaped(text)) +
                 "\n";
}

void SvgCanvas::upright_text(Point centre, Colour colour, std::string_view text) {
    if (text.empty()) return;
    elements_ +=
        fmt::format(R"_(<text transform="translate({} {}) rotate(-90)" text-anchor="middle"{}>{}</text>)_",
                    px(centre.x + font_size * 0.35f), px(centre.y), paint("fill", colour), escaped(text)) +
        "\n";
}

}  // namespace sawtooth

#include "app/cli/report_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/canvas_svg.h"
#include "viz/figure_page.h"

namespace sawtooth::cli {
namespace {

void remove_all(std::string& text, std::string_view part) {
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
}

std::string elements_of(const std::function<void(Canvas&)>& draw) {
    SvgCanvas canvas;
    draw(canvas);
    std::string elements = canvas.elements();
    // Attributes that all strokes have in common are part of their class.
    for (const char* part : {R"( fill="none")", R"( stroke-linejoin="round")", R"( stroke-width="1")"})
        remove_all(elements, part);
    return elements;
}

}  // namespace

std::string PageDrawings::class_of(const std::string& attribute, const Pair& colours) {
    const auto [known, added] = classes_.try_emplace({attribute, colours});
    if (added) known->second = fmt::format("c{}", classes_.size());
    return known->second;
}

std::string PageDrawings::style_of(std::string Pair::*theme) const {
    std::string style;
    for (const auto& [paint, name] : classes_) {
        if (theme == &Pair::second && paint.second.first == paint.second.second) continue;
        const bool strokes = theme == &Pair::first && paint.first == "stroke";
        style += fmt::format(".{}{{{}:#{}{}}}\n", name, paint.first, paint.second.*theme,
                             strokes ? ";fill:none;stroke-linejoin:round" : "");
    }
    return style;
}

// Both themes give the same elements except for their colours; if they do not, the light one serves for both.
std::string PageDrawings::drawing(const Draw& draw, int width, int height) {
    const std::string light = elements_of([&](Canvas& canvas) { draw(canvas, light_theme()); });
    std::string dark = elements_of([&](Canvas& canvas) { draw(canvas, dark_theme()); });
    if (dark.size() != light.size()) dark = light;
    std::string text = fmt::format("<svg viewBox=\"0 0 {} {}\">\n", width, height);
    constexpr std::string_view mark = "=\"#";
    constexpr size_t digits = 6;
    size_t done = 0;
    for (size_t at = light.find(mark); at != std::string::npos; at = light.find(mark, at)) {
        const size_t name = light.rfind(' ', at) + 1, colour = at + mark.size();
        text += light.substr(done, name - done);
        const Pair colours{light.substr(colour, digits), dark.substr(colour, digits)};
        text += "class=\"" + class_of(light.substr(name, at - name), colours) + "\"";
        at = done = colour + digits + 1;
    }
    return text + light.substr(done) + "</svg>\n";
}

std::string PageDrawings::figure(const Figure& figure) {
    constexpr int width = 640;
    int height = 360;
    Figure bare = figure;
    bare.title.clear();
    bare.caption.clear();
    elements_of([&](Canvas& canvas) {  // rows with names may need more
        height = std::max(height, static_cast<int>(std::ceil(least_page_height(canvas, bare))));
    });
    return drawing([&](Canvas& canvas, const Theme& theme) { draw_page(canvas, bare, theme, width, height); },
                   width, height);
}

std::string PageDrawings::swatch(int variant) {
    constexpr float width = 28, middle = 6;
    return drawing(
        [&](Canvas& canvas, const Theme& theme) {
            const Stroke stroke = stroke_of({Ink::Role::variant, variant}, theme);
            canvas.path(std::array<Point, 2>{{{0, middle}, {width, middle}}}, stroke);
            canvas.marker(stroke.marker, {width / 2, middle}, 3.5f, stroke.colour);
        },
        static_cast<int>(width), static_cast<int>(2 * middle));
}

}  // namespace sawtooth::cli

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viz/colour_map.h"
#include "viz/theme.h"

namespace sawtooth {

struct Point {
    float x = 0, y = 0;  // y grows downwards
};

struct Box {
    float left = 0, top = 0, right = 0, bottom = 0;

    float width() const { return right - left; }
    float height() const { return bottom - top; }
    float middle() const { return (top + bottom) / 2; }
    bool contains(Point point) const {
        return point.x >= left && point.x <= right && point.y >= top && point.y <= bottom;
    }
};

enum class Align { left, centre, right };

// The target of drawing: an SVG, or a draw list of Dear ImGui. Lengths that matter to the eye (line widths,
// markers, spacing) are given in units and multiplied by unit().
class Canvas {
  public:
    virtual ~Canvas() = default;

    virtual float text_width(std::string_view text) const = 0;
    virtual float line_height() const = 0;
    virtual float unit() const = 0;  // 1/96 inch at 100 %

    virtual void path(std::span<const Point> points, const Stroke& stroke) = 0;
    virtual void strip(std::span<const Point> one, std::span<const Point> other,
                       Colour colour) = 0;  // fills the area between the two paths
    virtual void box(const Box& box, Colour colour) = 0;
    virtual void outline(const Box& box, Colour colour) = 0;
    virtual void marker(Marker shape, Point centre, float radius, Colour colour) = 0;
    virtual void cells(const Box& box, const CellGrid& grid, const ColourScale& colours) = 0;
    virtual void text(Point place, Align align, Colour colour,
                      std::string_view text) = 0;  // y: the middle of the line
    // Reads from bottom to top.
    virtual void upright_text(Point centre, Colour colour, std::string_view text) = 0;

    // Clips everything that is drawn before unclip() to the box.
    virtual void clip(const Box& box) = 0;
    virtual void unclip() = 0;
};

// The text, cut with an ellipsis if it does not fit; "" if not even the ellipsis fits.
std::string elided(const Canvas& canvas, std::string_view text, float width);
// Breaks a text at spaces into lines of at most `width`; text beyond `most` lines is cut with an ellipsis.
std::vector<std::string> wrapped(const Canvas& canvas, std::string_view text, float width, size_t most);

}  // namespace sawtooth

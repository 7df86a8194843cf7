#pragma once

#include <string>

#include "viz/canvas.h"

namespace sawtooth {

// Writes SVG elements. Widths of texts are upper estimates, because the reader's fonts are unknown.
class SvgCanvas : public Canvas {
  public:
    float text_width(std::string_view text) const override;
    float line_height() const override { return 16; }
    float unit() const override { return 1; }

    void path(std::span<const Point> points, const Stroke& stroke) override;
    void strip(std::span<const Point> one, std::span<const Point> other, Colour colour) override;
    void box(const Box& box, Colour colour) override;
    void outline(const Box& box, Colour colour) override;
    void marker(Marker shape, Point centre, float radius, Colour colour) override;
    void cells(const Box& box, const CellGrid& grid, const ColourScale& colours) override;
    void text(Point place, Align align, Colour colour, std::string_view text) override;
    void upright_text(Point centre, Colour colour, std::string_view text) override;
    void clip(const Box& box) override;
    void unclip() override { elements_ += "</svg>\n"; }

    const std::string& elements() const { return elements_; }

  private:
    std::string elements_;
};

std::string escaped(std::string_view text);

}  // namespace sawtooth

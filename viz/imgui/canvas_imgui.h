#pragma once

#include <imgui.h>

#include <vector>

#include "viz/canvas.h"

namespace sawtooth {

ImU32 packed(Colour colour);
ImVec4 as_vector(Colour colour);

// Draws to a draw list with the current font.
class ImGuiCanvas : public Canvas {
  public:
    explicit ImGuiCanvas(ImDrawList* list) : list_(list) {}

    float text_width(std::string_view text) const override;
    float line_height() const override;
    float unit() const override;

    void path(std::span<const Point> points, const Stroke& stroke) override;
    void strip(std::span<const Point> one, std::span<const Point> other, Colour colour) override;
    void box(const Box& box, Colour colour) override;
    void outline(const Box& box, Colour colour) override;
    void marker(Marker shape, Point centre, float radius, Colour colour) override;
    void cells(const Box& box, const CellGrid& grid, const ColourScale& colours) override;
    void text(Point place, Align align, Colour colour, std::string_view text) override;
    void upright_text(Point centre, Colour colour, std::string_view text) override;
    void clip(const Box& box) override {
        list_->PushClipRect({box.left, box.top}, {box.right, box.bottom}, true);
    }
    void unclip() override { list_->PopClipRect(); }

  private:
    void dashed(std::span<const Point> points, const Stroke& stroke);
    void columns(std::span<const Point> points, const Stroke& stroke);

    ImDrawList* list_;
    std::vector<ImVec2> points_;  // kept to reuse its memory
};

}  // namespace sawtooth

#include "viz/imgui/canvas_imgui.h"

#include <implot.h>
#include <implot_internal.h>

#include <algorithm>
#include <cmath>

namespace sawtooth {
namespace {

ImVec2 vec(Point point) { return {point.x, point.y}; }

// Returns whether x increases and there are more than two points per pixel.
bool is_dense(std::span<const Point> points) {
    constexpr size_t few = 8;  // a vertical line has two
    if (points.size() <= few) return false;
    if (static_cast<float>(points.size()) <= 2 * std::abs(points.back().x - points.front().x)) return false;
    return std::is_sorted(points.begin(), points.end(),
                          [](Point one, Point other) { return one.x < other.x; });
}

}  // namespace

ImU32 packed(Colour colour) {
    const auto alpha = static_cast<ImU32>(std::lround(std::clamp(colour.alpha, 0.0f, 1.0f) * 255));
    return IM_COL32(colour.rgb >> 16 & 255, colour.rgb >> 8 & 255, colour.rgb & 255, alpha);
}

ImVec4 as_vector(Colour colour) { return ImGui::ColorConvertU32ToFloat4(packed(colour)); }

float ImGuiCanvas::text_width(std::string_view text) const {
    if (text.empty()) return 0;
    return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
}

float ImGuiCanvas::line_height() const { return std::round(ImGui::GetFontSize() * 1.2f); }

float ImGuiCanvas::unit() const { return ImGui::GetFontSize() / 15; }  // at 100 % text is 15 pixels high

void ImGuiCanvas::path(std::span<const Point> points, const Stroke& stroke) {
    if (points.size() < 2) return;
    if (is_dense(points)) {
        columns(points, stroke);
        return;
    }
    if (stroke.dash != Dash::solid) {
        dashed(points, stroke);
        return;
    }
    points_.resize(points.size());
    std::transform(points.begin(), points.end(), points_.begin(), vec);
    list_->AddPolyline(points_.data(), static_cast<int>(points_.size()), packed(stroke.colour), 0,
                       stroke.width * unit());
}

// Dear ImGui has no dashes. Only the part within the clip rectangle is processed.
void ImGuiCanvas::dashed(std::span<const Point> points, const Stroke& stroke) {
    const auto pattern = pattern_of(stroke.dash);
    const ImU32 colour = packed(stroke.colour);
    const float low = list_->GetClipRectMin().x, high = list_->GetClipRectMax().x;
    size_t piece = 0;
    float left = pattern[0] * unit();  // the rest of the current dash or gap
    for (size_t i = 0; i + 1 < points.size(); ++i) {
        Point from = points[i];
        const Point to = points[i + 1];
        if (std::max(from.x, to.x) < low || std::min(from.x, to.x) > high) continue;
        float length = std::min(std::hypot(to.x - from.x, to.y - from.y), 1e5f);
        while (length > 0) {
            const float step = std::min(left, length), share = step / length;
            const Point next{from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share};
            if (piece % 2 == 0) list_->AddLine(vec(from), vec(next), colour, stroke.width * unit());
            from = next, length -= step, left -= step;
            if (left <= 0) piece = (piece + 1) % pattern.size(), left = pattern[piece] * unit();
        }
    }
}

// Draws a box from the lowest to the highest point of every pixel column. This is the area of a dense line,
// with a tenth of the triangles. Dashes follow x, because along the line they would look like noise.
void ImGuiCanvas::columns(std::span<const Point> points, const Stroke& stroke) {
    const auto pattern = pattern_of(stroke.dash);
    float period = 0;
    for (const float length : pattern) period += length * unit();
    const auto is_drawn = [&](float x) {
        float at = period > 0 ? std::fmod(x - points.front().x, period) : 0;
        for (size_t i = 0; i < pattern.size(); at -= pattern[i++] * unit())
            if (at < pattern[i] * unit()) return i % 2 == 0;
        return true;
    };
    const float half = std::max(stroke.width * unit(), 1.0f) / 2;
    const float left = list_->GetClipRectMin().x - 1, right = list_->GetClipRectMax().x + 1;
    const ImU32 colour = packed(stroke.colour);
    float before = points.front().y;  // a column starts where the previous one ended
    for (size_t i = 0; i < points.size();) {
        const float column = std::floor(points[i].x);
        float low = before, high = before;
        for (; i < points.size() && std::floor(points[i].x) == column; ++i) {
            low = std::min(low, points[i].y);
            high = std::max(high, points[i].y);
            before = points[i].y;
        }
        const float end = i < points.size() ? std::floor(points[i].x) : column + 1;
        if (column < left || column > right || !is_drawn(column)) continue;
        list_->PrimReserve(6, 4);
        list_->PrimRect({column, low - half}, {end, high + half}, colour);
    }
}

void ImGuiCanvas::strip(std::span<const Point> one, std::span<const Point> other, Colour colour) {
    // Anti-aliasing would show seams between the boxes.
    const ImDrawListFlags flags = list_->Flags;
    list_->Flags &= ~ImDrawListFlags_AntiAliasedFill;
    for (size_t i = 0; i + 1 < std::min(one.size(), other.size()); ++i)
        list_->AddQuadFilled(vec(one[i]), vec(one[i + 1]), vec(other[i + 1]), vec(other[i]), packed(colour));
    list_->Flags = flags;
}

void ImGuiCanvas::box(const Box& box, Colour colour) {
    list_->AddRectFilled({box.left, box.top}, {box.right, box.bottom}, packed(colour));
}

void ImGuiCanvas::outline(const Box& box, Colour colour) {
    list_->AddRect({box.left, box.top}, {box.right, box.bottom}, packed(colour));
}

void ImGuiCanvas::marker(Marker shape, Point at, float r, Colour colour) {
    const ImU32 fill = packed(colour);
    const float s = r * 0.85f, d = r * 0.75f, thick = 1.5f * unit();
    switch (shape) {
        case Marker::none:
            break;
        case Marker::circle:
            list_->AddCircleFilled(vec(at), r, fill);
            break;
        case Marker::square:
            list_->AddRectFilled({at.x - s, at.y - s}, {at.x + s, at.y + s}, fill);
            break;
        case Marker::diamond:
            list_->AddQuadFilled({at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y},
                                 fill);
            break;
        case Marker::triangle_up:
            list_->AddTriangleFilled({at.x, at.y - r}, {at.x + r, at.y + s}, {at.x - r, at.y + s}, fill);
            break;
        case Marker::triangle_down:
            list_->AddTriangleFilled({at.x, at.y + r}, {at.x - r, at.y - s}, {at.x + r, at.y - s}, fill);
            break;
        case Marker::plus:
            list_->AddLine({at.x - r, at.y}, {at.x + r, at.y}, fill, thick);
            list_->AddLine({at.x, at.y - r}, {at.x, at.y + r}, fill, thick);
            break;
        case Marker::cross:
            list_->AddLine({at.x - d, at.y - d}, {at.x + d, at.y + d}, fill, thick);
            list_->AddLine({at.x - d, at.y + d}, {at.x + d, at.y - d}, fill, thick);
            break;
    }
}

void ImGuiCanvas::cells(const Box& box, const CellGrid& grid, const ColourScale& colours) {
    // Edges are at whole pixels, so that neighbours neither overlap nor leave gaps.
    const auto x_at = [&](int64_t i) {
        return std::round(box.left + box.width() * static_cast<float>(i) / static_cast<float>(grid.columns));
    };
    const auto y_at = [&](int64_t i) {
        return std::round(box.top + box.height() * static_cast<float>(i) / static_cast<float>(grid.rows));
    };
    for (int64_t row = 0; row < grid.rows; ++row)
        for (int64_t column = 0; column < grid.columns; ++column) {
            const double value = grid.values[static_cast<size_t>(row * grid.columns + column)];
            if (std::isnan(value)) continue;
            list_->AddRectFilled({x_at(column), y_at(row)}, {x_at(column + 1), y_at(row + 1)},
                                 packed({colours.colour_of(value)}));
        }
}

void ImGuiCanvas::text(Point place, Align align, Colour colour, std::string_view text) {
    if (text.empty()) return;
    const float width = text_width(text);
    const float left = align == Align::left     ? place.x
                       : align == Align::centre ? place.x - width / 2
                                                : place.x - width;
    list_->AddText({std::round(left), std::round(place.y - ImGui::GetFontSize() / 2)}, packed(colour),
                   text.data(), text.data() + text.size());
}

void ImGuiCanvas::upright_text(Point centre, Colour colour, std::string_view text) {
    if (text.empty()) return;
    const ImVec2 foot{std::round(centre.x - ImGui::GetFontSize() / 2),
                      std::round(centre.y + text_width(text) / 2)};
    ImPlot::AddTextVertical(list_, foot, packed(colour), text.data(), text.data() + text.size());
}

}  // namespace sawtooth

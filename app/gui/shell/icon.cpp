#include "app/gui/shell/icon.h"

#include <algorithm>
#include <cmath>

#include "viz/canvas.h"

namespace sawtooth {
namespace {

// Coordinates in units of the drawing, which is 128 wide and high.
constexpr Point sawtooth_line[] = {{20, 96}, {48, 36}, {48, 96}, {76, 36}, {76, 96}, {104, 36}, {104, 96}};
constexpr float line_width = 9, corner = 24, edge = 60;

float distance_to_line(Point p) {
    float nearest = 128;
    for (size_t i = 0; i + 1 < std::size(sawtooth_line); ++i) {
        const Point a = sawtooth_line[i], b = sawtooth_line[i + 1];
        const Point ab{b.x - a.x, b.y - a.y};
        const float along = ((p.x - a.x) * ab.x + (p.y - a.y) * ab.y) / (ab.x * ab.x + ab.y * ab.y);
        const float t = std::clamp(along, 0.0f, 1.0f);
        nearest = std::min(nearest, std::hypot(p.x - a.x - t * ab.x, p.y - a.y - t * ab.y));
    }
    return nearest;
}

// The distance to the square with round corners; negative inside it.
float distance_to_ground(Point p) {
    const float x = std::max(std::abs(p.x - 64) - (edge - corner), 0.0f);
    const float y = std::max(std::abs(p.y - 64) - (edge - corner), 0.0f);
    return std::hypot(x, y) - corner;
}

}  // namespace

std::vector<uint8_t> icon_pixels(int size) {
    const float unit = 128 / static_cast<float>(size);
    const auto covered = [&](float distance) { return std::clamp(0.5f - distance / unit, 0.0f, 1.0f); };
    constexpr float ground[] = {0x16, 0x18, 0x1d}, ink[] = {0xf2, 0xa3, 0x3c};
    std::vector<uint8_t> pixels;
    for (int row = 0; row < size; ++row)
        for (int column = 0; column < size; ++column) {
            const Point p{(static_cast<float>(column) + 0.5f) * unit,
                          (static_cast<float>(row) + 0.5f) * unit};
            const float inked = covered(distance_to_line(p) - line_width / 2);
            for (int c = 0; c < 3; ++c)
                pixels.push_back(static_cast<uint8_t>(std::lround(ground[c] + inked * (ink[c] - ground[c]))));
            pixels.push_back(static_cast<uint8_t>(std::lround(255 * covered(distance_to_ground(p)))));
        }
    return pixels;
}

}  // namespace sawtooth

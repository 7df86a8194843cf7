#include "viz/canvas.h"

#include <algorithm>

namespace sawtooth {
namespace {

// The index of the first byte of the UTF-8 character before `end`.
size_t previous(std::string_view text, size_t end) {
    do --end;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
    return end;
}

}  // namespace

std::string elided(const Canvas& canvas, std::string_view text, float width) {
    if (canvas.text_width(text) <= width) return std::string(text);
    const auto shortened = [&](size_t end) { return std::string(text.substr(0, end)) + "…"; };
    // From the longest on; halved, because measuring each of a long text takes long.
    std::vector<size_t> ends;
    for (size_t end = text.size(); end > 0;)
        if ((end = previous(text, end)) > 0) ends.push_back(end);
    auto end = std::ranges::partition_point(
        ends, [&](size_t at) { return canvas.text_width(shortened(at)) > width; });
    while (end != ends.end() && text[*end - 1] == ' ') ++end;
    return end == ends.end() ? "" : shortened(*end);
}

std::vector<std::string> wrapped(const Canvas& canvas, std::string_view text, float width, size_t most) {
    std::vector<std::string> lines;
    size_t start = 0;
    while (start < text.size() && lines.size() < most) {
        if (lines.size() + 1 == most) {
            lines.push_back(elided(canvas, text.substr(start), width));
            break;
        }
        size_t end = text.size();
        while (end > start && canvas.text_width(text.substr(start, end - start)) > width) {
            const size_t space = text.rfind(' ', end - 1);
            if (space == std::string_view::npos || space <= start) break;
            end = space;
        }
        lines.push_back(elided(canvas, text.substr(start, end - start), width));
        start = std::min(text.find_first_not_of(' ', end), text.size());
    }
    return lines;
}

}  // namespace sawtooth

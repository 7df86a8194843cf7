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
    for (size_t end = text.size(); end > 0;) {
        end = previous(text, end);
        if (end > 0 && text[end - 1] == ' ') continue;
        const std::string shorter = std::string(text.substr(0, end)) + "…";
        if (end > 0 && canvas.text_width(shorter) <= width) return shorter;
    }
    return {};
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

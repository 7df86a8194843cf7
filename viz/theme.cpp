#include "viz/theme.h"

#include <algorithm>
#include <cmath>

namespace sawtooth {
namespace {

// The relative luminance of sRGB, from WCAG 2.2.
double luminance(uint32_t rgb) {
    const auto linear = [](uint32_t byte) {
        const double share = byte / 255.0;
        return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(rgb >> 16 & 255) + 0.7152 * linear(rgb >> 8 & 255) + 0.0722 * linear(rgb & 255);
}

Theme make_dark() {
    Theme theme;
    theme.dark = true;
    theme.ground = 0x16181D, theme.bar = 0x111317, theme.field = 0x22262E, theme.line = 0x2B2F38;
    theme.text = 0xDFE3EA, theme.quiet_text = 0x858D9B;
    theme.highlight = 0x4A9BD4;
    theme.reference = 0xC3C9D4, theme.limit = 0xDFE3EA, theme.quiet = 0x6C7482, theme.accent = 0xB79CFF;
    theme.wrong = 0xF28B82;
    theme.variants = {0x56B4E9, 0xE69F00, 0x0A8A60, 0xD05CA6, 0xF0E442, 0xD55E00, 0x6C74FF, 0x91F1D6};
    return theme;
}

// The colours of variants have a contrast of at least 3:1.
Theme make_light() {
    Theme theme;
    theme.dark = false;
    theme.ground = 0xFFFFFF, theme.bar = 0xF1F3F6, theme.field = 0xE6E9EE, theme.line = 0xD9DDE4;
    theme.text = 0x1B1F27, theme.quiet_text = 0x5E6675;
    theme.highlight = 0x2F86C8;
    theme.reference = 0x3A404B, theme.limit = 0x1B1F27, theme.quiet = 0x868E9C, theme.accent = 0x6A3FD0;
    theme.wrong = 0xC5221F;
    theme.variants = {0x4F83F1, 0xFF5E00, 0x016D8C, 0xC375CD, 0xA47105, 0xBF3E74, 0x1A33BA, 0x227200};
    return theme;
}

}  // namespace

double contrast(uint32_t one, uint32_t other) {
    const auto [low, high] =
        std::minmax({luminance(one), luminance(other)});  // passed as a list, because that copies the values
    return (high + 0.05) / (low + 0.05);
}

uint32_t blend(uint32_t under, Colour over) {
    uint32_t mixed = 0;
    for (int shift : {16, 8, 0}) {
        const float low = static_cast<float>(under >> shift & 255);
        const float high = static_cast<float>(over.rgb >> shift & 255);
        mixed |= static_cast<uint32_t>(std::lround(low + (high - low) * over.alpha)) << shift;
    }
    return mixed;
}

uint32_t ink_on(uint32_t ground) {
    constexpr uint32_t white = 0xFFFFFF, black = 0x101216;
    return contrast(ground, white) > contrast(ground, black) ? white : black;
}

Colour shade(Colour colour, size_t index) {
    static constexpr float strengths[] = {0.9f, 0.55f, 0.75f, 0.42f};
    return colour.faded(strengths[index % std::size(strengths)]);
}

const Theme& dark_theme() {
    static const Theme theme = make_dark();
    return theme;
}

const Theme& light_theme() {
    static const Theme theme = make_light();
    return theme;
}

std::span<const float> pattern_of(Dash dash) {
    static constexpr float dashed[] = {6, 3};
    static constexpr float long_dashed[] = {12, 3};
    static constexpr float dash_dot[] = {8, 3, 2, 3};
    static constexpr float dash_dot_dot[] = {8, 3, 2, 3, 2, 3};
    static constexpr float long_dash_dot[] = {16, 3, 3, 3};
    static constexpr float dotted[] = {2, 3};
    switch (dash) {
        case Dash::solid:
            return {};
        case Dash::dashed:
            return dashed;
        case Dash::long_dashed:
            return long_dashed;
        case Dash::dash_dot:
            return dash_dot;
        case Dash::dash_dot_dot:
            return dash_dot_dot;
        case Dash::long_dash_dot:
            return long_dash_dot;
        case Dash::dotted:
            return dotted;
    }
    return {};
}

Stroke stroke_of(const Ink& ink, const Theme& theme) {
    // `dotted` is reserved for Ink::dashed, which distinguishes two lines of one variant.
    static constexpr std::array dashes = {Dash::solid,  Dash::long_dashed,   Dash::dash_dot,
                                          Dash::dashed, Dash::long_dash_dot, Dash::dash_dot_dot};
    static constexpr std::array markers = {Marker::circle,  Marker::square,        Marker::triangle_up,
                                           Marker::diamond, Marker::triangle_down, Marker::plus,
                                           Marker::cross};
    Stroke stroke;
    switch (ink.role) {
        case Ink::Role::variant: {
            const size_t index = static_cast<size_t>(std::max(ink.index, 0));
            const size_t round = index / theme.variants.size();
            stroke = {{theme.variants[index % theme.variants.size()]},
                      1.5f,
                      dashes[(index + round) % dashes.size()],
                      markers[index % markers.size()]};
            break;
        }
        case Ink::Role::kind:
            return stroke_of({Ink::Role::variant, 3 + std::max(ink.index, 0), ink.dashed, ink.ghost}, theme);
        case Ink::Role::reference:
            stroke = {{theme.reference}, 1};
            break;
        case Ink::Role::limit:
            stroke = {{theme.limit}, 1.5f, Dash::dashed};
            break;
        case Ink::Role::highlight:
            stroke = {{theme.highlight}, 1.5f};
            break;
        case Ink::Role::quiet:
            stroke = {{theme.quiet}, 1};
            break;
        case Ink::Role::accent:
            stroke = {{theme.accent}, 2};
            break;
    }
    if (ink.dashed) stroke.dash = Dash::dotted;
    if (ink.ghost > 0) {
        constexpr float share = 0.6f;
        static constexpr std::array ghosts = {Dash::dashed,      Dash::dotted,       Dash::dash_dot,
                                              Dash::long_dashed, Dash::dash_dot_dot, Dash::long_dash_dot,
                                              Dash::solid};
        stroke = {stroke.colour.faded(share), 1, ghosts[static_cast<size_t>(ink.ghost - 1) % ghosts.size()]};
    }
    return stroke;
}

}  // namespace sawtooth

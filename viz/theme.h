#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/core/figure.h"

namespace sawtooth {

struct Colour {
    uint32_t rgb = 0;  // 0xRRGGBB
    float alpha = 1;

    Colour faded(float by) const { return {rgb, alpha * by}; }
    bool operator==(const Colour&) const = default;
};

// The contrast of two opaque colours by WCAG: 1 (equal) to 21 (black on white).
double contrast(uint32_t one, uint32_t other);
// The colour `over`, blended onto the opaque colour `under`.
uint32_t blend(uint32_t under, Colour over);

// Black or white, whichever is easier to read on that ground.
uint32_t ink_on(uint32_t ground);
// Shades of one colour for adjacent parts (stacked bars, spans of a track).
Colour shade(Colour colour, size_t index);

// The colours of the window and of saved figures.
struct Theme {
    bool dark = true;
    // Ground: behind plots; bar: behind panel heads; field: in controls; line: frames and grids.
    uint32_t ground, bar, field, line;
    uint32_t text, quiet_text;
    uint32_t highlight;                        // for controls that are on, held or in progress
    uint32_t reference, limit, quiet, accent;  // for marks, by Ink::Role
    uint32_t wrong;                            // for marks and badges of wrong results
    // The colours differ with deuteranopia, too; those of the dark theme are based on Okabe and Ito.
    std::array<uint32_t, 8> variants;
};

const Theme& dark_theme();
const Theme& light_theme();

enum class Dash { solid, dashed, long_dashed, dash_dot, dash_dot_dot, long_dash_dot, dotted };
// Lengths of dashes and gaps in units of 1/96 inch; empty for a solid line.
std::span<const float> pattern_of(Dash dash);

enum class Marker { none, circle, square, triangle_up, diamond, triangle_down, plus, cross };

struct Stroke {
    Colour colour;
    float width = 1;
    Dash dash = Dash::solid;
    Marker marker = Marker::none;

    bool operator==(const Stroke&) const = default;
};

// The stroke of a variant. Variants differ in colour, dash and marker; after eight variants colours repeat
// with other dashes and markers. Ghosts have the colour of their variant, faded, and the dash of their pin.
Stroke stroke_of(const Ink& ink, const Theme& theme);

}  // namespace sawtooth

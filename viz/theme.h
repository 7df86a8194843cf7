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

// WCAG contrast of two opaque colours: 1 (equal) to 21 (black on white).
double contrast(uint32_t one, uint32_t other);
// `over` laid on the opaque colour `under`.
uint32_t blend(uint32_t under, Colour over);

// Black or white, whichever reads better on that ground.
uint32_t ink_on(uint32_t ground);
// Pieces of one colour that lie side by side (stacked bars, spans of a track) are told apart by their
// strength.
Colour shade(Colour colour, size_t index);

// Every colour of the window and of saved figures.
struct Theme {
    bool dark = true;
    uint32_t ground, bar, field, line;  // behind plots; behind panels' heads; in controls; frames and grids
    uint32_t text, quiet_text;
    uint32_t highlight;                        // of controls: what is on, held or in progress
    uint32_t reference, limit, quiet, accent;  // of marks, by Ink::Role
    std::array<uint32_t, 8> variants;          // the first six are Okabe-Ito's, for all eyes
};

const Theme& dark_theme();
const Theme& light_theme();

enum class Dash { solid, dashed, long_dashed, dash_dot, dash_dot_dot, long_dash_dot, dotted };
// Lengths in units of 1/96 inch, alternately drawn and not; empty for a solid line.
std::span<const float> pattern_of(Dash dash);

enum class Marker { none, circle, square, triangle_up, diamond, triangle_down, plus, cross };

struct Stroke {
    Colour colour;
    float width = 1;
    Dash dash = Dash::solid;
    Marker marker = Marker::none;

    bool operator==(const Stroke&) const = default;
};

// Variants differ in colour, dash and marker; after eight, colours return with other dashes and markers.
Stroke stroke_of(const Ink& ink, const Theme& theme);

}  // namespace sawtooth

#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/heading.h"
#include "viz/layout.h"
#include "viz/theme.h"

namespace sawtooth {

// Further details of a span of a track that the figure does not have: names and values.
using DescribeSpan = std::function<std::vector<std::pair<std::string, std::string>>(const Tracks::Track&,
                                                                                    const Tracks::Span&)>;

// A launch drawn with an outline.
struct OutlinedLaunch {
    Ink ink;  // of its tracks
    double start = 0, end = 0;
};

// A measured range of time, drawn as a band over the rows.
struct MeasuredRange {
    size_t row = 0;
    Ink ink;  // of its track; a row with another one is not it any more, and nothing is drawn
    View::Range time;
    std::string words;  // its label
};

// How to draw a figure in this frame. The caller stores range and cursor by Axis::shared (or by figure if
// that is empty) and passes them to every figure with that axis.
struct DrawOptions {
    ImVec2 size;                         // total, with title and legend
    bool dimmed = false;                 // the figure is out of date
    std::optional<View::Range> visible;  // of x; absent: all of it
    std::optional<double> cursor_x;      // a line across the plot
    DescribeSpan describe_span;          // for the readout; may be empty
    std::optional<OutlinedLaunch> outlined;
    std::optional<MeasuredRange> measured;
    struct Rows {
        size_t first = 0, count = 0;
    };
    std::optional<Rows> lit;      // rows of bars, on a ground of their own
    bool scrolls_to_lit = false;  // the panel, in this frame
    bool has_keys = false;        // the keyboard's focus: W, S, A and D zoom and pan
    HeadingOptions heading = {};
};

// User actions on the plot in this frame.
struct PlotEvents {
    std::optional<View::Range> visible;  // zoomed or panned: the new range
    bool fit = false;                    // double click: shows all of x
    std::optional<double> cursor_x;      // the position of the mouse over the plot
    bool context_menu = false;           // right click; the caller opens the menu
    struct Chosen {
        std::string parameter;
        double value = 0;
    };
    std::vector<Chosen> chosen;  // a click on a point of a line, or on a cell, that sets parameters
    struct TrackClick {
        Ink ink = {};                // of the track
        std::optional<double> time;  // within the clicked span; absent if no span was clicked
    };
    std::optional<TrackClick> track_click;
    struct Measuring {
        size_t row = 0;
        Ink ink;  // of its track
        View::Range time;
    };
    std::optional<Measuring> measuring;  // a drag over tracks with Shift
    bool fill = false;                   // double click on the title: fills the panel with this figure
    bool over_heading = false;           // the mouse is over title and caption
    bool caption_cut = false;            // not all of it is drawn
    std::optional<Frame> plot;           // no action: where the plot lies
};

PlotEvents draw_figure(const Figure& figure, const Theme& theme, const DrawOptions& options);

}  // namespace sawtooth

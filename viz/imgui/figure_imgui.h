#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viz/heading.h"
#include "viz/theme.h"

namespace sawtooth {

// What more there is to say about a span of a track than its figure knows: names and values.
using DescribeSpan = std::function<std::vector<std::pair<std::string, std::string>>(const Tracks::Track&,
                                                                                    const Tracks::Span&)>;

// A launch around which an outline is drawn.
struct OutlinedLaunch {
    Ink ink;  // of its tracks
    double start = 0, end = 0;
};

// A range of time that was measured, as a band over the rows that are as wide as this one.
struct MeasuredRange {
    size_t row = 0;
    View::Range time;
    std::string words;  // written on it
};

// How a figure is drawn in this frame. The caller keeps range and cursor by Axis::shared (or by figure where
// that is empty) and gives them to every figure with that axis.
struct DrawOptions {
    ImVec2 size;                         // of all, with title and legend
    bool dimmed = false;                 // the figure is old, something newer runs
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
    HeadingOptions heading = {};
};

// What a person did to the plot in this frame.
struct PlotEvents {
    std::optional<View::Range> visible;  // zoomed or panned: the range from now on
    bool fit = false;                    // double click: all of x is to be seen again
    std::optional<double> cursor_x;      // where the mouse is over the plot
    bool context_menu = false;           // right click; the menu is the caller's
    struct Chosen {
        std::string parameter;
        double value = 0;
    };
    std::optional<Chosen> chosen;  // a click on a point of a line that sets a parameter
    struct TrackClick {
        Ink ink = {};                // of the track
        std::optional<double> time;  // within the span that was clicked; absent beside all of them
    };
    std::optional<TrackClick> track_click;
    struct Measuring {
        size_t row = 0;
        Ink ink;  // of its track
        View::Range time;
    };
    std::optional<Measuring> measuring;  // a drag over tracks with Shift
    bool fill = false;                   // double click on the title: the panel is to show this figure alone
};

PlotEvents draw_figure(const Figure& figure, const Theme& theme, const DrawOptions& options);

}  // namespace sawtooth

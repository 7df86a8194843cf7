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

// Returns details of a span of a track that the figure does not have, as names and values.
using DescribeSpan = std::function<std::vector<std::pair<std::string, std::string>>(const Tracks::Track&,
                                                                                    const Tracks::Span&)>;

// A launch that is drawn with an outline.
struct OutlinedLaunch {
    Ink ink;  // that of its tracks
    double start = 0, end = 0;
};

// A measured range of time, drawn as a band over the rows.
struct MeasuredRange {
    size_t row = 0;
    Ink ink;  // that of its track: if the row now has another one, nothing is drawn
    View::Range time;
    std::string words;  // its label
};

// How to draw a figure in this frame. The caller stores range and cursor by Axis::shared (or by figure, if
// that is empty) and passes them to every figure with that axis.
struct DrawOptions {
    ImVec2 size;                         // of everything, including title and legend
    bool dimmed = false;                 // for a figure that is out of date
    std::optional<View::Range> visible;  // the visible range of x; absent: all of it
    std::optional<double> cursor_x;      // where a line is drawn across the plot
    DescribeSpan describe_span;          // for the readout; may be empty
    std::optional<OutlinedLaunch> outlined;
    std::optional<MeasuredRange> measured;
    struct Rows {
        size_t first = 0, count = 0;
    };
    std::optional<Rows> lit;      // rows of bars that get a ground of their own
    bool scrolls_to_lit = false;  // scrolls the panel to these rows in this frame
    bool has_keys = false;        // it has the keyboard focus: W, S, A and D zoom and pan
    HeadingOptions heading = {};
};

// The user's actions on the plot in this frame.
struct PlotEvents {
    std::optional<View::Range> visible;  // the new range after zooming or panning
    bool fit = false;                    // double click: show all of x
    std::optional<double> cursor_x;      // the position of the mouse over the plot
    struct MenuPlace {
        double x = 0, y = 0;  // on the axes of the figure
    };
    bool context_menu = false;            // right click: the caller opens the menu
    std::optional<MenuPlace> menu_place;  // where the mouse is over the plot, or its middle
    struct Chosen {
        std::string parameter;
        double value = 0;
    };
    std::vector<Chosen> chosen;  // parameters set by a click on a point of a line or a cell
    struct TrackClick {
        Ink ink = {};                // that of the track
        std::optional<double> time;  // within the clicked span; absent if no span was clicked
    };
    std::optional<TrackClick> track_click;
    struct Measuring {
        size_t row = 0;
        Ink ink;  // that of its track
        View::Range time;
    };
    std::optional<Measuring> measuring;  // a drag with Shift over tracks
    bool fill = false;                   // double click on the title: the figure fills the panel
    bool over_heading = false;           // the mouse is over title, caption and legend
    bool caption_cut = false, legend_cut = false;
    std::optional<Frame> plot;  // not an action: the place of the plot
};

PlotEvents draw_figure(const Figure& figure, const Theme& theme, const DrawOptions& options);

}  // namespace sawtooth

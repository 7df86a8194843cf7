#pragma once

#include <optional>

#include "viz/imgui/figure_imgui.h"
#include "viz/marks.h"

namespace sawtooth {

// Handles mouse actions on tracks.

// The span at `mouse`, or the nearest one within a few pixels, because spans may be narrower than a pixel.
struct SpanUnderMouse {
    const Tracks::Track* track = nullptr;
    const Tracks::Span* span = nullptr;
    double time = 0;  // within the span
};
std::optional<SpanUnderMouse> span_under(const Pen& pen, const Figure& figure, Point mouse);

// What a click at `mouse` selects; absent if there are no tracks.
std::optional<PlotEvents::TrackClick> click_on_tracks(const Pen& pen, const Figure& figure, Point mouse);

// The range of time that a drag from `from` to `to` measures; absent if it did not start on a track.
std::optional<PlotEvents::Measuring> measured_by(const Pen& pen, const Figure& figure, Point from, Point to);
// Returns whether the mouse is at one end of the range, where its label is drawn.
bool ends_under(const Pen& pen, const Figure& figure, const MeasuredRange& measured, Point mouse);
void draw_measured(const Pen& pen, const Figure& figure, const MeasuredRange& measured);

// Draws an outline around the launch in every row that has it.
void outline_launch(const Pen& pen, const Figure& figure, const OutlinedLaunch& launch);

}  // namespace sawtooth

#include "viz/imgui/tracks_imgui.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sawtooth {
namespace {

const Tracks* tracks_of(const Figure& figure) {
    for (const Mark& mark : figure.marks)
        if (const Tracks* tracks = std::get_if<Tracks>(&mark)) return tracks;
    return nullptr;
}

}  // namespace

std::optional<SpanUnderMouse> span_under(const Pen& pen, const Figure& figure, Point mouse) {
    const Tracks* const tracks = tracks_of(figure);
    const auto row = std::llround(pen.frame.y_at(mouse.y));
    if (!tracks || row < 0 || static_cast<size_t>(row) >= tracks->tracks.size()) return {};
    const Tracks::Track& track = tracks->tracks[static_cast<size_t>(row)];
    const double time = track.time_at(pen.frame.x_at(mouse.x));
    float nearest = 3 * pen.canvas.unit();
    std::optional<SpanUnderMouse> found;
    for (const Tracks::Span& span : track.spans) {
        const double inside = std::clamp(time, span.start, span.end);
        const float distance = std::fabs(pen.frame.at_x(track.place(inside)) - mouse.x);
        if (distance > nearest || (found && distance == nearest)) continue;
        nearest = distance;
        found = {&track, &span, inside};
    }
    return found;
}

std::optional<PlotEvents::TrackClick> click_on_tracks(const Pen& pen, const Figure& figure, Point mouse) {
    if (!tracks_of(figure)) return {};
    const auto under = span_under(pen, figure, mouse);
    if (!under) return PlotEvents::TrackClick{};
    return PlotEvents::TrackClick{under->track->ink, under->time};
}

void outline_launch(const Pen& pen, const Figure& figure, const OutlinedLaunch& launch) {
    const Tracks* const tracks = tracks_of(figure);
    const float unit = pen.canvas.unit(), around = 2 * unit;
    for (size_t i = 0; tracks && i < tracks->tracks.size(); ++i) {
        const Tracks::Track& track = tracks->tracks[i];
        if (track.ink != launch.ink || track.spans.empty() || launch.start >= track.spans.back().end ||
            launch.end <= track.spans.front().start)
            continue;
        const Box row = track_row(pen, *tracks, i);
        float left = pen.frame.at_x(track.place(launch.start)),
              right = pen.frame.at_x(track.place(launch.end));
        const float widen = std::max(0.0f, 2 * unit - (right - left)) / 2;
        left = std::max(std::round(left - widen - around), pen.frame.box.left - 2 * around);
        right = std::min(std::round(right + widen + around), pen.frame.box.right + 2 * around);
        const float top = std::round(row.top - around), bottom = std::round(row.bottom + around);
        pen.canvas.path(
            std::array<Point, 5>{{{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}}},
            {{pen.theme.text}, 2});
    }
}

}  // namespace sawtooth

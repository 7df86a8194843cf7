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

// The row at height y; absent outside the rows.
std::optional<size_t> row_under(const Pen& pen, const Tracks& tracks, float y) {
    const auto row = std::llround(pen.frame.y_at(y));
    if (row < 0 || static_cast<size_t>(row) >= tracks.tracks.size()) return {};
    return static_cast<size_t>(row);
}

// Draws a line of text on a plate at the height of the box: centred in it, or beside it if the text is wider.
void draw_plate(const Pen& pen, const Box& box, const std::string& words) {
    const Box& plot = pen.frame.box;
    const float unit = pen.canvas.unit(), half = pen.canvas.line_height() / 2 + unit;
    const float width = pen.canvas.text_width(words) + 12 * unit, gap = 4 * unit;
    float left = (box.left + box.right - width) / 2;
    if (width > box.width()) left = box.right + gap;
    if (left + width > plot.right) left = std::min(box.left - gap, plot.right) - width;
    left = std::max(left, plot.left);
    const float y = std::clamp(box.middle(), plot.top + half, plot.bottom - half);
    const Box plate{left, y - half, left + width, y + half};
    pen.canvas.box(plate, {pen.theme.bar, 0.92f});
    pen.canvas.outline(plate, {pen.theme.quiet_text});
    pen.canvas.text({left + width / 2, y}, Align::centre, {pen.theme.text}, words);
}

// The measured track; null if the figure does not show it any more.
const Tracks::Track* measured_track(const Figure& figure, const MeasuredRange& measured) {
    const Tracks* const tracks = tracks_of(figure);
    if (!tracks || measured.row >= tracks->tracks.size()) return nullptr;
    const Tracks::Track& track = tracks->tracks[measured.row];
    return track.ink == measured.ink ? &track : nullptr;
}

}  // namespace

std::optional<SpanUnderMouse> span_under(const Pen& pen, const Figure& figure, Point mouse) {
    const Tracks* const tracks = tracks_of(figure);
    const auto row = tracks ? row_under(pen, *tracks, mouse.y) : std::nullopt;
    if (!row) return {};
    const Tracks::Track& track = tracks->tracks[*row];
    const double time = pen.frame.x_at(mouse.x);
    float nearest = 3 * pen.canvas.unit();
    std::optional<SpanUnderMouse> found;
    for (const Tracks::Span& span : track.spans) {
        const double inside = std::clamp(time, span.start, span.end);
        const float distance = std::fabs(pen.frame.at_x(inside) - mouse.x);
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

std::optional<PlotEvents::Measuring> measured_by(const Pen& pen, const Figure& figure, Point from, Point to) {
    const Tracks* const tracks = tracks_of(figure);
    if (!tracks || !pen.frame.box.contains(from)) return {};
    const auto row = row_under(pen, *tracks, from.y);
    if (!row) return {};
    const Tracks::Track& track = tracks->tracks[*row];
    const auto time_at = [&](float x) {
        return pen.frame.x_at(std::clamp(x, pen.frame.box.left, pen.frame.box.right));
    };
    const auto [low, high] = std::minmax({time_at(from.x), time_at(to.x)});
    return PlotEvents::Measuring{*row, track.ink, {low, high}};
}

bool ends_under(const Pen& pen, const Figure& figure, const MeasuredRange& measured, Point mouse) {
    if (!measured_track(figure, measured)) return false;
    const auto is_near = [&](double time) {
        return std::abs(pen.frame.at_x(time) - mouse.x) < 4 * pen.canvas.unit();
    };
    return is_near(measured.time.low) || is_near(measured.time.high);
}

void draw_measured(const Pen& pen, const Figure& figure, const MeasuredRange& measured) {
    const Tracks* const tracks = tracks_of(figure);
    if (!measured_track(figure, measured)) return;
    const Box& plot = pen.frame.box;
    const float left = std::round(pen.frame.at_x(measured.time.low)),
                right = std::round(pen.frame.at_x(measured.time.high));
    for (size_t i = 0; i < tracks->tracks.size(); ++i) {
        const double row = static_cast<double>(i);
        const float top = pen.frame.at_y(row - 0.5), bottom = pen.frame.at_y(row + 0.5);
        pen.canvas.box({left, top, right, bottom}, {pen.theme.text, 0.15f});
        for (const float x : {left, right})
            pen.canvas.path(std::array<Point, 2>{{{x, top}, {x, bottom}}}, {{pen.theme.text}, 1});
    }
    if (right < plot.left || left > plot.right) return;
    const float row = pen.frame.at_y(static_cast<double>(measured.row));
    draw_plate(pen, {left, row, right, row}, measured.words);
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
        float left = pen.frame.at_x(launch.start), right = pen.frame.at_x(launch.end);
        const float widen = std::max(0.0f, 2 * unit - (right - left)) / 2;
        left = std::max(std::round(left - widen - around), pen.frame.box.left - 2 * around);
        right = std::min(std::round(right + widen + around), pen.frame.box.right + 2 * around);
        const float top = std::round(std::max(row.top - around, pen.frame.box.top + unit)),
                    bottom = std::round(std::min(row.bottom + around, pen.frame.box.bottom - unit));
        pen.canvas.path(
            std::array<Point, 5>{{{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}}},
            {{pen.theme.text}, 2});
    }
}

}  // namespace sawtooth

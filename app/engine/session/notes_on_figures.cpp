#include "app/engine/session/notes_on_figures.h"

#include <algorithm>
#include <utility>

#include "kernels/figures/figures.h"

namespace sawtooth {
namespace {

const LaunchRecord* launch_of(const SessionNote& note, const VariantResult* variant) {
    return variant && note.launch < variant->launches.size() ? &variant->launches[note.launch] : nullptr;
}

// The middle of the launch in the first track of its variant that covers it.
std::optional<Note> on_track(const SessionNote& note, const Tracks& tracks, const Result& result) {
    const VariantResult* const variant = find(result, note.variant);
    const LaunchRecord* const launch = launch_of(note, variant);
    if (!launch) return {};
    const double middle = launch->start_us + launch->duration_us / 2;
    for (size_t row = 0; row < tracks.tracks.size(); ++row) {
        const Tracks::Track& track = tracks.tracks[row];
        if (track.ink == ink_of(*variant) && !track.spans.empty() && track.spans.front().start <= middle &&
            middle <= track.spans.back().end)
            return Note{middle, static_cast<double>(row), note.text, true};
    }
    return {};
}

std::optional<Note> on_launch(const SessionNote& note, const Figure& figure, const Result& result) {
    for (const Mark& mark : figure.marks)
        if (const Tracks* const tracks = std::get_if<Tracks>(&mark)) return on_track(note, *tracks, result);
    return {};
}

}  // namespace

Figure with_notes(Figure figure, const std::vector<const SessionNote*>& notes, const Result* result) {
    for (const SessionNote* note : notes) {
        std::optional<Note> mark;
        if (note->figure == figure.id)
            mark = Note{note->x, note->y, note->text, true};
        else if (note->figure.empty() && figure.place == Place::timeline && result)
            mark = on_launch(*note, figure, *result);
        if (mark) figure.marks.emplace_back(std::move(*mark));
    }
    return figure;
}

}  // namespace sawtooth

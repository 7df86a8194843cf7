#include "kernels/figures/figures.h"
#include "kernels/figures/timeline.h"
#include "profiling/figures.h"

namespace sawtooth {

Figure timeline_figure(const Result& result, const View& view) {
    const bool on_gpu = result.backend == Backend::cuda;
    Figure figure = new_figure(
        "timeline", Place::timeline, on_gpu ? "Launches on the GPU" : "Launches",
        on_gpu ? "One repeat of every variant: its launches, and the utilisation of the SMs. Recording slows "
                 "chains of short launches; samples are from a separate run."
               : "One repeat of every variant: its launches, and the utilisation of the workers.",
        {.label = "time", .unit = "us", .minimum = 0, .shared = "time"}, {});
    Tracks tracks;
    for (const VariantResult& variant : result.variants)
        if (!variant.launches.empty()) add_tracks(tracks, result, variant, variant.name, view);
    if (tracks.tracks.empty())
        figure.missing = "Launches on a time axis. Available after a run with profile timeline.";
    else
        figure.marks.push_back(std::move(tracks));
    return figure;
}

}  // namespace sawtooth

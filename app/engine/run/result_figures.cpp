#include "app/engine/run/result_figures.h"

#include <algorithm>
#include <utility>

#include "app/engine/recordings/recordings.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/sweep_cells.h"
#include "kernels/figures/sweep_figures.h"
#include "profiling/figures.h"

namespace sawtooth {
namespace {

const FigureSweep* find_figure_sweep(const std::vector<FigureSweep>& sweeps, const std::string& id) {
    for (const FigureSweep& sweep : sweeps)
        if (sweep.id == id) return &sweep;
    return nullptr;
}

bool has_times(const Result& result) {
    return std::any_of(result.variants.begin(), result.variants.end(),
                       [](const VariantResult& variant) { return variant.time.has_value(); });
}

// What empty figures say of settings that were not recorded.
void say_no_times(const std::string& recording, std::vector<Figure>& figures) {
    for (Figure& figure : figures)
        if (figure.marks.empty())
            figure.missing = recording_words(recording) + " has no times for these settings.";
}

bool has_error_curves(const Result& result) {
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors)
            if (!error.by_position.empty()) return true;
    return false;
}

// With a recording, outputs are computed here; settings that were not recorded have no times.
void say_what_is_recorded(const Result& result, std::vector<Figure>& figures) {
    const bool draws_errors = !has_error_curves(result);
    for (Figure& figure : figures) {
        const bool is_drawn_here =
            figure.place == Place::outputs || (figure.place == Place::error && draws_errors);
        if (is_drawn_here && !figure.marks.empty())
            figure.caption = (has_times(result) ? "Drawn: outputs of this CPU; errors in words: recorded. "
                                                : "Outputs of this CPU. ") +
                             figure.caption;
    }
    if (!has_times(result)) say_no_times(result.request.recording, figures);
}

}  // namespace

std::shared_ptr<const Result> with_figure_parameters(const Result& result, const Parameters& parameters) {
    auto redrawn = std::make_shared<Result>(result);
    for (const auto& [name, value] : parameters.values) redrawn->parameters.set(name, value);
    return redrawn;
}

std::vector<Figure> figures_of(const Result& result, const View& view) {
    std::vector<Figure> figures = (*find_offered_family(result.request.family))->figures(result, view);
    figures.push_back(times_figure(result));
    figures.push_back(samples_figure(result));
    figures.push_back(timeline_figure(result, view));
    figures.push_back(occupancy_figure(result));
    figures.push_back(roofline_figure(result));
    for (Figure& figure : occupancy_curve_figures(result)) figures.push_back(std::move(figure));
    if (!result.request.recording.empty()) say_what_is_recorded(result, figures);
    return figures;
}

namespace {

std::vector<Figure> own_or_common_figures(const SweepResult& result) {
    const Family& family = **find_offered_family(result.sweep.base.family);
    Parameters parameters = family.defaults();
    for (const auto& [name, value] : result.sweep.base.parameters.values) parameters.set(name, value);
    const auto own = family.sweeps ? family.sweeps(parameters) : std::vector<FigureSweep>{};
    const FigureSweep* const sweep = find_figure_sweep(own, result.sweep.id);
    if (!sweep) return sweep_figures(result, family);
    Parameters sizes;
    for (const auto& [name, value] : sweep->overrides)
        if (family.parameter(name)->group == Group::shape && std::holds_alternative<int64_t>(value))
            sizes.set(name, parameters.at(name));
    for (const SweepAxis& axis : sweep->axes)
        for (const std::string& name : names_of(axis)) sizes.values.erase(name);
    std::vector<Figure> figures = sweep->figures(result);
    for (Figure& figure : figures) figure.sizes = sizes;
    return figures;
}

}  // namespace

std::vector<Figure> figures_of(const SweepResult& result) {
    std::vector<Figure> figures = own_or_common_figures(result);
    for (Figure& figure : figures) figure.y.growing = !result.complete;
    const std::string& recording = result.sweep.base.recording;
    // A refused cell says why itself.
    const bool only_times_miss =
        std::all_of(result.cells.begin(), result.cells.end(),
                    [](const SweepCell& c) { return c.result && !has_times(*c.result); });
    if (result.complete && !recording.empty() && only_times_miss) say_no_times(recording, figures);
    if (result.complete) say_why_empty(figures, result);
    return figures;
}

std::vector<Sweep> figure_sweeps(const Request& request, const Parameters& parameters, Backend backend) {
    const Family& family = **find_offered_family(request.family);
    std::vector<Sweep> sweeps;
    if (!family.sweeps) return sweeps;
    for (const FigureSweep& wanted : family.sweeps(parameters)) {
        if (wanted.only_on && wanted.only_on != backend) continue;
        Sweep sweep{wanted.id, request, wanted.axes};
        sweep.base.preset.clear();
        sweep.base.input.clear();  // arrays of a file would fix the swept size
        sweep.base.parameters = parameters;
        sweep.base.extras = Extras::none;
        // Sweeps show only times; counters would need many runs per cell.
        if (request.profile == Profile::counters || request.profile == Profile::sampling)
            sweep.base.profile = Profile::timeline;
        for (const auto& [name, value] : wanted.overrides) sweep.base.parameters.set(name, value);
        if (!wanted.variants.empty()) sweep.base.variants = wanted.variants;
        sweeps.push_back(std::move(sweep));
    }
    return sweeps;
}

}  // namespace sawtooth

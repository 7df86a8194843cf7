#include "app/gui/state/kept_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/gui/state/effect.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

std::shared_ptr<const Result> with_times_of(const Result& before, const Result& partial) {
    auto merged = std::make_shared<Result>(partial);
    merged->ceilings = before.ceilings;
    merged->clocks = before.clocks;
    merged->in_turns = before.in_turns;
    for (VariantResult& variant : merged->variants) {
        const VariantResult* const timed = find(before, variant.name);
        if (!timed || !variant.ran()) continue;
        variant.time = timed->time;
        variant.launches = timed->launches;
        variant.compiled = timed->compiled;
        variant.tracks = timed->tracks;
        variant.metrics = timed->metrics;
    }
    return merged;
}

// The settings that were different when the shown times were measured: "chunk = 64, d = 32", or the device;
// "" if there are none.
std::string setting_of_times(const LabState& lab) {
    std::string words = lab.times_of->device == lab.result->device ? "" : lab.times_of->device;
    const Parameters &then = lab.times_of->parameters, &now = lab.result->parameters;
    for (const Parameter& row : lab.family->parameters) {
        if (row.renews == Renews::figures || then.at(row.name) == now.at(row.name)) continue;
        words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", row.name, to_text(then.at(row.name)));
    }
    return words;
}

}  // namespace

void show_result(LabState& lab, const std::shared_ptr<const Result>& result) {
    if (result->timed)
        lab.times_of.reset();
    else if (lab.result && lab.result->timed)
        lab.times_of = lab.result;
    lab.result = lab.times_of ? with_times_of(*lab.times_of, *result) : result;
}

void show_figures(LabState& lab, const Figures& figures) {
    lab.kept_figures.clear();
    const Figures before = std::exchange(lab.figures, figures);
    if (!lab.times_of || !before) return;
    auto merged = std::make_shared<std::vector<Figure>>(*figures);
    for (Figure& figure : *merged) {
        const auto old = std::find_if(before->begin(), before->end(),
                                      [&](const Figure& other) { return other.id == figure.id; });
        if (!figure.marks.empty() || old == before->end() || old->marks.empty()) continue;
        figure = *old;
        lab.kept_figures.insert(figure.id);
    }
    lab.figures = std::move(merged);
}

std::string why_times_outdated(const LabState& lab) {
    const std::string why = why_outdated(lab);
    if (!lab.times_of) return why;
    const std::string then = setting_of_times(lab);
    return (why.empty() ? "measuring" : why) + (then.empty() ? "" : " (shown: " + then + ")");
}

std::string why_outdated(const LabState& lab, const Figure& figure) {
    if (lab.kept_figures.contains(figure.id)) return why_times_outdated(lab);
    // If a run stops after showing its outputs, only the times are out of date.
    const bool only_times = lab.result && !lab.result->timed && shows_what_is_set(lab);
    return only_times && !lab.pending.ticket ? "" : why_outdated(lab);
}

}  // namespace sawtooth

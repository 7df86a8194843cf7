#include "app/gui/kept_times.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth {

std::shared_ptr<const Result> with_times_of(const Result& before, const Result& partial) {
    auto merged = std::make_shared<Result>(partial);
    merged->ceilings = before.ceilings;
    merged->clocks = before.clocks;
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

Figures with_figures_of(const Figures& before, const Figures& partial, std::set<std::string>& kept) {
    if (!before) return partial;
    auto merged = std::make_shared<std::vector<Figure>>(*partial);
    for (Figure& figure : *merged) {
        const auto old = std::find_if(before->begin(), before->end(),
                                      [&](const Figure& other) { return other.id == figure.id; });
        if (!figure.marks.empty() || old == before->end() || old->marks.empty()) continue;
        figure = *old;
        kept.insert(figure.id);
    }
    return merged;
}

std::string setting_of_times(const LabState& lab) {
    if (!lab.times_of || !lab.result) return "";
    std::string words = lab.times_of->device == lab.result->device ? "" : lab.times_of->device;
    const Parameters &then = lab.times_of->parameters, &now = lab.result->parameters;
    for (const Parameter& row : lab.family->parameters) {
        if (row.renews == Renews::figures || then.at(row.name) == now.at(row.name)) continue;
        words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", row.name, to_text(then.at(row.name)));
    }
    return words;
}

}  // namespace sawtooth

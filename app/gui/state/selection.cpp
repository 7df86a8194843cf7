#include "app/gui/state/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/state/launch_words.h"
#include "kernels/core/table.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/timeline.h"

namespace sawtooth {
namespace {

// A share in words: "12 %", "0.34 %".
std::string percent(double share) {
    return share < 0.1 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

// The distance from `us` to the launch; 0 if it lies within it.
double distance(const LaunchRecord& launch, double us) {
    return std::max({0.0, launch.start_us - us, us - launch.start_us - launch.duration_us});
}

// How many workers a launch kept busy. A thread block runs on one SM, but an SM may run several blocks.
std::string workers_words(const Result& result, const LaunchRecord& launch) {
    const int64_t workers = workers_of(launch, result.processors);
    if (result.backend == Backend::cuda)
        return fmt::format("at most {} of {} SMs", workers, result.processors);
    return fmt::format("{} of {} workers", workers, result.processors);
}

}  // namespace

void select_launch(LabState& lab, const Ink& ink, double us) {
    for (const VariantResult& variant : lab.result->variants) {
        if (ink_of(variant) != ink || variant.launches.empty()) continue;
        const auto nearest = std::min_element(
            variant.launches.begin(), variant.launches.end(),
            [&](const auto& one, const auto& other) { return distance(one, us) < distance(other, us); });
        lab.selected = LabState::SelectedLaunch{
            variant.name, static_cast<size_t>(nearest - variant.launches.begin()), nearest->info->name};
    }
}

std::optional<FoundLaunch> selected_launch(const LabState& lab) {
    if (!lab.selected || !lab.result) return {};
    const VariantResult* const variant = find(*lab.result, lab.selected->variant);
    if (!variant || lab.selected->index >= variant->launches.size()) return {};
    const LaunchRecord& launch = variant->launches[lab.selected->index];
    if (launch.info->name != lab.selected->kernel) return {};
    return FoundLaunch{variant, &launch};
}

void keep_selection(LabState& lab) {
    if (lab.result->complete && !selected_launch(lab)) lab.selected.reset();
    if (auto& measured = lab.measured; measured && measured->of_result)
        measured->words = measured_words(lab.result.get(), measured->ink, measured->us);
}

std::string measured_words(const Result* result, const Ink& ink, View::Range us) {
    const double length = us.high - us.low;
    std::string words = short_time(length);
    for (size_t i = 0; result && i < result->variants.size(); ++i) {
        const VariantResult& variant = result->variants[i];
        if (ink_of(variant) != ink || variant.launches.empty() || length <= 0) continue;
        const int64_t count = launches_within(variant.launches, us);
        words += fmt::format(": {} {} of {}, utilisation {}", with_thousands(count),
                             count == 1 ? "launch" : "launches", variant.name,
                             percent(utilisation(variant.launches, result->processors, us)));
    }
    return words;
}

std::string title_of_selected(const LabState& lab) {
    const auto found = selected_launch(lab);
    if (!found) return "";
    return fmt::format("Launch {}: {}", with_thousands(static_cast<int64_t>(lab.selected->index) + 1),
                       found->launch->info->name);
}

std::string workers_of_selected(const LabState& lab) {
    const auto found = selected_launch(lab);
    return found && lab.result->processors > 0 ? workers_words(*lab.result, *found->launch) : "";
}

std::vector<std::pair<std::string, std::string>> facts_of_selected(const LabState& lab) {
    const auto found = selected_launch(lab);
    if (!found) return {};
    const auto& [variant, launch] = *found;
    std::vector<std::pair<std::string, std::string>> facts{
        {"variant", variant->name},
        {"launch",
         fmt::format("{} of {}, starts at {}", with_thousands(static_cast<int64_t>(lab.selected->index) + 1),
                     with_thousands(variant->launch_count), short_time(launch->start_us))},
        {"duration", fmt::format("{}, {} of the recorded repeat", short_time(launch->duration_us),
                                 percent(launch->duration_us / end_us_of(variant->launches)))}};
    if (const std::string workers = workers_of_selected(lab); !workers.empty())
        facts.emplace_back("works on", workers);
    for (auto& fact : facts_of(*launch, lab.result->processors)) facts.push_back(std::move(fact));
    return facts;
}

}  // namespace sawtooth

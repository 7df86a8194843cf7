#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/figures.h"
#include "profiling/figures.h"

namespace sawtooth {
namespace {

// Launches with the same theoretical occupancy whose names differ at most in a number ("up_sweep_1",
// "up_sweep_2"). Their achieved occupancy is the mean of the counted ones.
struct Kind {
    std::string first, last;  // names
    Occupancy occupancy;
    double achieved_sum = 0;
    int counted = 0;

    std::string name() const { return first == last ? first : first + " to " + last; }
};

std::string_view without_number(std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name;
}

void add(std::vector<Kind>& kinds, const std::string& launch, const Occupancy& occupancy) {
    if (!occupancy.theoretical && !occupancy.achieved) return;
    auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
        return without_number(kind.first) == without_number(launch) &&
               kind.occupancy.theoretical == occupancy.theoretical &&
               kind.occupancy.limiter == occupancy.limiter;
    });
    if (same == kinds.end()) same = kinds.insert(kinds.end(), {launch, launch, occupancy, 0, 0});
    if (launch != same->first) same->last = launch;
    if (!occupancy.achieved) return;
    same->achieved_sum += *occupancy.achieved;
    ++same->counted;
}

std::vector<Kind> kinds_that_ran(const VariantResult& variant) {
    std::vector<Kind> kinds;
    for (const LaunchRecord& launch : variant.launches) add(kinds, launch.info->name, launch.occupancy);
    return kinds;
}

std::vector<Kind> kinds_compiled(const VariantResult& variant) {
    std::vector<Kind> kinds;
    for (const CompiledLaunch& launch : variant.compiled) add(kinds, launch.launch, launch.occupancy);
    return kinds;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

Bar bar_of(const char* what, double share, Ink ink, std::string text) {
    return {ink, {{what, 100 * share}}, {}, {}, std::move(text)};
}

// One bar for the theoretical occupancy of a kind and one below for the achieved occupancy.
void add_bars(const Kind& kind, const std::string& name, Ink ink, Bars& bars,
              std::vector<std::string>& categories) {
    if (const auto& share = kind.occupancy.theoretical) {
        const std::string& limiter = kind.occupancy.limiter;
        bars.bars.push_back(bar_of("theoretical", *share, ink,
                                   percent(*share) + (limiter.empty() ? "" : ", limited by " + limiter)));
        categories.push_back(name);
    }
    if (kind.counted > 0) {
        const double share = kind.achieved_sum / kind.counted;
        bars.bars.push_back(bar_of("achieved", share, {Ink::Role::accent}, percent(share) + " achieved"));
        categories.push_back(name + ", achieved");
    }
}

}  // namespace

Figure occupancy_figure(const Result& result) {
    // A chosen chip shows its theoretical occupancy; otherwise the run says more.
    const bool chosen = !result.request.arch.empty();
    Figure figure = new_figure(
        "occupancy", Place::occupancy, chosen ? "Theoretical occupancy, " + result.request.arch : "Occupancy",
        "Resident warps as a share of the maximum per SM.",
        {.label = "occupancy", .unit = "%", .minimum = 0, .maximum = 100}, {.label = "launch"});
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        std::vector<Kind> kinds = chosen ? kinds_compiled(variant) : kinds_that_ran(variant);
        if (kinds.empty()) kinds = kinds_compiled(variant);
        for (const Kind& kind : kinds) {
            const std::string name = kinds.size() == 1 ? variant.name : variant.name + ": " + kind.name();
            add_bars(kind, name, ink_of(variant), bars, figure.y.categories);
        }
    }
    if (bars.bars.empty())
        figure.missing =
            "Theoretical and achieved occupancy with its limit. Available once kernels are compiled, for a "
            "chosen chip (--arch) or for the GPU of the run.";
    else
        figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace sawtooth

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/table.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/timeline.h"
#include "profiling/figures.h"

namespace sawtooth {
namespace {

// Launches with the same theoretical occupancy and limiter whose names differ at most in a number at the end
// ("up_sweep_1", "up_sweep_2"). Their achieved occupancy is the mean over the launches that were counted.
struct Kind {
    std::vector<std::string> names;
    Occupancy occupancy;
    double achieved_sum = 0;
    int counted = 0;
    int64_t fewest_blocks = 0, most_blocks = 0;  // thread blocks of a grid; 0: unknown

    std::string name() const {
        return names.size() == 1 ? names.front() : names.front() + " to " + names.back();
    }
};

std::string_view without_number(std::string_view name) {
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
    return name;
}

// Adds a launch to its kind and returns the kind; null if nothing is known of the occupancy.
Kind* add(std::vector<Kind>& kinds, const std::string& launch, const Occupancy& occupancy) {
    if (!occupancy.theoretical && !occupancy.achieved) return nullptr;
    auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
        return without_number(kind.names.front()) == without_number(launch) &&
               kind.occupancy.theoretical == occupancy.theoretical &&
               kind.occupancy.limiter == occupancy.limiter;
    });
    if (same == kinds.end()) same = kinds.insert(kinds.end(), {{launch}, occupancy});
    if (std::find(same->names.begin(), same->names.end(), launch) == same->names.end())
        same->names.push_back(launch);
    if (!occupancy.achieved) return &*same;
    same->achieved_sum += *occupancy.achieved;
    ++same->counted;
    return &*same;
}

std::vector<Kind> kinds_that_ran(const VariantResult& variant) {
    std::vector<Kind> kinds;
    for (const LaunchRecord& launch : variant.launches) {
        Kind* const kind = add(kinds, launch.info->name, launch.occupancy);
        if (!kind) continue;
        const Extent& grid = launch.info->grid;
        const int64_t blocks = grid.x * grid.y * grid.z;
        kind->fewest_blocks = kind->fewest_blocks == 0 ? blocks : std::min(kind->fewest_blocks, blocks);
        kind->most_blocks = std::max(kind->most_blocks, blocks);
    }
    return kinds;
}

std::vector<Kind> kinds_compiled(const VariantResult& variant) {
    std::vector<Kind> kinds;
    for (const CompiledLaunch& launch : variant.compiled) add(kinds, launch.launch, launch.occupancy);
    return kinds;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

// Says that the grid is too small: "16 of 132 SMs have work", or "160 blocks, room for 528"; "" if it fills
// the GPU.
std::string words_of_grid(const Kind& kind, int multiprocessors) {
    if (kind.most_blocks == 0 || multiprocessors == 0) return "";
    const std::string most = with_thousands(kind.most_blocks);
    if (kind.most_blocks < multiprocessors) {
        const std::string few =
            kind.fewest_blocks < kind.most_blocks ? with_thousands(kind.fewest_blocks) + " to " : "";
        return few + most + " of " + std::to_string(multiprocessors) + " SMs have work";
    }
    const int64_t room = int64_t{kind.occupancy.blocks} * multiprocessors;
    return kind.most_blocks < room ? most + " blocks, room for " + with_thousands(room) : "";
}

// Adds a bar for the theoretical occupancy of a kind, with a tick at the achieved one, and below it the
// reasons why it is low, one per line.
void add_bars(const Kind& kind, const std::string& name, Ink ink, int multiprocessors, Bars& bars,
              std::vector<std::string>& categories) {
    Bar bar;
    bar.ink = ink;
    bar.launches = kind.names;
    std::vector<std::string> reasons;
    if (const auto& share = kind.occupancy.theoretical) {
        bar.segments = {{"theoretical", 100 * *share}};
        bar.text = percent(*share);
        if (*share >= 1)
            reasons.emplace_back("warp slots full");
        else if (!kind.occupancy.limiter.empty())
            reasons.push_back((*share > 0 ? "limited by " : "") + kind.occupancy.limiter);
    }
    if (kind.counted > 0) {
        const double share = kind.achieved_sum / kind.counted;
        bar.tick = {"achieved", 100 * share};
        bar.text = percent(share) + (bar.text.empty() ? " achieved" : ", at most " + bar.text);
    }
    if (std::string words = words_of_grid(kind, multiprocessors); !words.empty())
        reasons.push_back(std::move(words));
    bars.bars.push_back(bar);
    categories.push_back(name);
    bar.segments.clear();
    bar.tick.reset();
    for (std::string& words : reasons) {
        bar.text = std::move(words);
        bars.bars.push_back(bar);
        categories.push_back("");
    }
}

// A CPU has no occupancy, so the figure shows how its workers spend the time.
Figure utilisation_figure(const Result& result) {
    Figure figure =
        new_figure("utilisation", Place::occupancy, "Utilisation of the workers",
                   "The mean share of the time in which a worker is busy. A CPU has no occupancy: "
                   "choose a chip (--arch) to see that of the CUDA kernels.",
                   {.label = "utilisation", .unit = "%", .minimum = 0, .maximum = 100}, {});
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        if (variant.launches.empty()) continue;
        const double share = utilisation(variant.launches, result.processors);
        bars.bars.push_back({.ink = ink_of(variant),
                             .segments = {{"", 100 * share}},
                             .low = {},
                             .high = {},
                             .text = percent(share)});
        figure.y.categories.push_back(variant.name);
    }
    figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace

Figure occupancy_figure(const Result& result) {
    // A chosen chip shows its theoretical occupancy; without one the run says more.
    const bool chosen = !result.request.arch.empty() && result.request.recording.empty();
    const bool has_launches =
        std::any_of(result.variants.begin(), result.variants.end(),
                    [](const VariantResult& variant) { return !variant.launches.empty(); });
    if (result.backend == Backend::cpu && !chosen && has_launches) return utilisation_figure(result);
    Figure figure = new_figure(
        "occupancy", Place::occupancy, chosen ? "Theoretical occupancy, " + result.request.arch : "Occupancy",
        "Resident warps as a share of the maximum per SM. Bar: theoretical, with what limits it below.",
        {.label = "occupancy", .unit = "%", .minimum = 0, .maximum = 100}, {});
    Bars bars;
    bool has_ticks = false;
    for (const VariantResult& variant : result.variants) {
        std::vector<Kind> kinds = chosen ? kinds_compiled(variant) : kinds_that_ran(variant);
        if (kinds.empty()) kinds = kinds_compiled(variant);
        for (const Kind& kind : kinds) {
            has_ticks = has_ticks || kind.counted > 0;
            const std::string name = kinds.size() == 1 ? variant.name : variant.name + ": " + kind.name();
            add_bars(kind, name, ink_of(variant), result.processors, bars, figure.y.categories);
        }
    }
    if (has_ticks) figure.caption += " Tick: achieved.";
    if (bars.bars.empty())
        figure.missing =
            "Theoretical and achieved occupancy with its limit. Available once kernels are compiled, for a "
            "chosen chip (--arch) or for the GPU of the run.";
    else
        figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace sawtooth

// The surrogate gradient of a bit, and the weakest differences of the drawn item on it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/lut/figures/common.h"

namespace sawtooth::lut {
namespace {

// u(d) = 0.5 |d| / (1 + |d|), whose derivative is up'(d).
double surrogate(double delta) { return 0.5 * std::abs(delta) / (1 + std::abs(delta)); }

struct Weakest {
    int64_t detector = 0;
    double delta = 0;
};

std::vector<Weakest> weakest_of(const Result& result, const Drawn& drawn) {
    const Detectors detectors(result);
    std::vector<Weakest> all;
    for (int64_t t = 0; t < drawn.detectors; ++t)
        if (const Checked checked = detectors.check(drawn.item, t); checked.weakest >= 0)
            all.push_back({t, checked.min_delta});
    return all;
}

std::string words_of(const std::vector<Weakest>& all) {
    const double half = std::sqrt(2.0) - 1;  // where the slope is half its maximum
    const auto steep = std::count_if(all.begin(), all.end(),
                                     [&](const Weakest& each) { return std::abs(each.delta) <= half; });
    return fmt::format(
        "{} of {} weakest differences are within {:.2g} of 0, where the slope is at least half its maximum. ",
        steep, all.size(), half);
}

// "The smallest, 0.0087 in detector 30, has slope +0.491. "; differences of an input with itself do not
// count.
std::string words_of_least(std::vector<Weakest> all) {
    std::erase_if(all, [](const Weakest& each) { return each.delta == 0; });
    const auto least = std::min_element(all.begin(), all.end(), [](const Weakest& one, const Weakest& other) {
        return std::abs(one.delta) < std::abs(other.delta);
    });
    if (least == all.end()) return "";
    return fmt::format("The smallest, {:.2g} in detector {}, has slope {:+.3f}. ", least->delta,
                       least->detector, surrogate_slope(least->delta));
}

}  // namespace

Figure surrogate_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("surrogate", Place::views, "Surrogate gradient of a bit", "",
                               {.label = "difference of a pair"}, {.label = "u and up'"});
    figure.chosen_by = {"drawn_batch"};
    const std::vector<Weakest> all = weakest_of(result, drawn);
    if (all.empty()) {
        leave_out(figure, "All pairs are skipped, so no gradient passes: choose another drawn_batch.");
        return figure;
    }
    double reach = 1;
    for (const Weakest& each : all) reach = std::max(reach, 1.1 * std::abs(each.delta));
    constexpr int steps = 128;
    Line slope{"up', the slope", {Ink::Role::reference}, {}, {}},
        integral{"u, its integral", {Ink::Role::quiet}, {}, {}};
    for (int step = -steps; step <= steps; ++step) {
        const double delta = reach * step / steps;
        for (Line* line : {&slope, &integral}) line->x.push_back(delta);
        slope.y.push_back(surrogate_slope(delta));
        integral.y.push_back(surrogate(delta));
        if (step != 0) continue;  // up' jumps from -0.5 to 0.5
        slope.x.insert(slope.x.end(), 2, 0);
        slope.y.insert(slope.y.end(), {gap, 0.5});
    }
    Line stems{fmt::format("min_delta, item {}", drawn.item), {Ink::Role::accent}, {}, {}};
    for (const Weakest& each : all) {
        if (each.detector < drawn.page().first || each.detector >= drawn.page().last) continue;
        stems.x.insert(stems.x.end(), 3, each.delta);
        stems.y.insert(stems.y.end(), {0, surrogate_slope(each.delta), gap});
    }
    figure.caption = words_of(all) + words_of_least(all) + drawn.words_of_page();
    figure.marks = {std::move(integral), std::move(slope), std::move(stems)};
    return figure;
}

}  // namespace sawtooth::lut

// The time of each kernel, beside a copy of the bytes that it moves.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>

#include "kernels/core/correctness.h"
#include "kernels/core/table.h"
#include "kernels/lut/figures/common.h"
#include "kernels/lut/figures/kernels.h"

namespace sawtooth::lut {

std::vector<Kernel> kernels_of(const VariantResult& variant) {
    std::vector<Kernel> kernels;
    for (const LaunchRecord& launch : variant.launches) {
        auto same = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const Kernel& each) { return each.name == launch.info->name; });
        if (same == kernels.end()) same = kernels.insert(kernels.end(), Kernel{launch.info->name});
        same->us += launch.duration_us;
        same->bytes += launch.info->work.bytes;
        ++same->launches;
    }
    return kernels;
}

std::vector<Kernel> longest_of(std::vector<Kernel> kernels, size_t most) {
    const auto is_shorter = [](const Kernel& one, const Kernel& other) { return one.us < other.us; };
    while (kernels.size() > most)  // of equal ones the first stays
        kernels.erase(std::prev(std::min_element(kernels.rbegin(), kernels.rend(), is_shorter).base()));
    return kernels;
}

double total_us(const std::vector<Kernel>& kernels) {
    return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                           [](double sum, const Kernel& kernel) { return sum + kernel.us; });
}

namespace {

// In GB/s: of the copy measured in this run, or the limit of the machine; 0 if neither is known.
double copy_rate(const Result& result) {
    if (result.copy) return result.copy->gigabytes_per_second();
    return result.ceilings ? result.ceilings->copy_bytes_per_second / 1e9 : 0;
}

// "0.75", "13", "104"
std::string percent(double share) {
    return share < 0.1 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share);
}

// "12.3 us, 4.5 GB/s"
std::string words_of(const Kernel& kernel) {
    return kernel.us > 0
               ? fmt::format("{}, {:.3g} GB/s", short_time(kernel.us), kernel.gigabytes_per_second())
               : short_time(kernel.us);
}

// "fill_outputs takes 71 % of the kernel time of unfused: 12.3 us for 1.5 MiB, 23 % of the rate of a copy. "
std::string words_of_longest(const VariantResult& variant, double copy) {
    const std::vector<Kernel> kernels = kernels_of(variant);
    const double all = total_us(kernels);
    if (all <= 0) return "";
    const Kernel longest = longest_of(kernels, 1).front();
    std::string words = kernels.size() == 1 ? fmt::format("{} is one launch, {}", variant.name, longest.name)
                                            : fmt::format("{} takes {:.0f} % of the kernel time of {}",
                                                          longest.name, 100 * longest.us / all, variant.name);
    words += fmt::format(": {} for {}", short_time(longest.us), short_bytes(longest.bytes));
    if (copy > 0) words += ", " + percent(longest.gigabytes_per_second() / copy) + " % of the rate of a copy";
    return words + ". ";
}

// The longest kernels, and one row for the sum of the others.
std::vector<Kernel> in_rows(const std::vector<Kernel>& kernels, size_t rows) {
    if (kernels.size() <= rows) return kernels;
    std::vector<Kernel> shown = longest_of(kernels, rows - 1);
    Kernel others{fmt::format("{} others", kernels.size() - shown.size())};
    others.launches = 1;
    for (const Kernel& kernel : kernels) {
        if (std::any_of(shown.begin(), shown.end(),
                        [&](const Kernel& each) { return each.name == kernel.name; }))
            continue;
        others.us += kernel.us;
        others.bytes += kernel.bytes;
    }
    shown.push_back(std::move(others));
    return shown;
}

// "gather_x_gradients, 2x": without what the names of many kernels of a family end with.
std::string label_of(const Kernel& kernel) {
    std::string label = kernel.name;
    for (const std::string_view end : {"_fully_connected", "_for_sequence"})
        if (label.ends_with(end)) label.resize(label.size() - end.size());
    return kernel.launches == 1 ? label : fmt::format("{}, {}x", label, kernel.launches);
}

void leave_out_without_launches(Figure& figure) {
    leave_out(figure, "Available after a run with repeats (press F5).");
}

Bar bar_of(const VariantResult& variant, const Kernel& kernel, double copy) {
    Bar bar{.ink = ink_of(variant), .segments = {{"", kernel.us}}, .low = {}, .high = {}, .text = {}};
    bar.text = words_of(kernel);
    if (copy > 0) bar.tick = Bar::Segment{"a copy of its bytes", kernel.bytes / copy / 1e3};
    bar.launches = {kernel.name};
    return bar;
}

// Logarithmic if the bars of a variant would be too short to see.
void choose_scale(Figure& figure, const Result& result) {
    constexpr double most_in_sight = 20;
    double least = gap, shortest = gap, longest = gap;  // of all kernels; of the longest one of each variant
    for (const VariantResult& variant : result.variants) {
        const std::vector<Kernel> kernels = kernels_of(variant);
        for (const Kernel& kernel : kernels)
            if (kernel.us > 0) least = std::fmin(least, kernel.us);
        if (kernels.empty()) continue;
        const double us = longest_of(kernels, 1).front().us;
        shortest = std::fmin(shortest, us);
        longest = std::fmax(longest, us);
    }
    if (!(longest > most_in_sight * shortest)) return;
    figure.x.scale = Scale::log10;
    figure.x.minimum = least / 2;
    figure.caption += " The axis is logarithmic.";
}

Figure each_kernel_figure(const Result& result) {
    constexpr size_t most_bars = 12;
    Figure figure = new_figure("kernels", Place::views, "Time of each kernel", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {});
    const double copy = copy_rate(result);
    size_t all = 0;
    for (const VariantResult& variant : result.variants) all += kernels_of(variant).size();
    const size_t rows = all > most_bars ? most_bars / result.variants.size() : most_bars;
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        for (const Kernel& kernel : in_rows(kernels_of(variant), rows)) {
            bars.bars.push_back(bar_of(variant, kernel, copy));
            figure.y.categories.push_back(label_of(kernel));
        }
        figure.caption += words_of_longest(variant, copy);
    }
    if (bars.bars.empty()) {
        leave_out_without_launches(figure);
        return figure;
    }
    if (copy > 0) figure.caption += "Ticks: a copy of the bytes that the kernel moves.";
    choose_scale(figure, result);
    figure.marks.push_back(std::move(bars));
    return figure;
}

Figure stacked_figure(const Result& result) {
    Figure figure = new_figure("kernels-stacked", Place::views, "Time by kernel, stacked", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "variant"});
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        Bar bar{.ink = ink_of(variant), .segments = {}, .low = {}, .high = {}, .text = {}};
        const std::vector<Kernel> kernels = kernels_of(variant);
        if (kernels.empty()) continue;
        for (const Kernel& kernel : kernels) bar.segments.push_back({kernel.name, kernel.us});
        bar.text = short_time(total_us(kernels));
        bar.badge = wrong_words(result, variant);
        figure.caption += fmt::format("{}: {} in {} {}. ", variant.name, bar.text, variant.launches.size(),
                                      variant.launches.size() == 1 ? "launch" : "launches");
        figure.y.categories.push_back(variant.name);
        bars.bars.push_back(std::move(bar));
    }
    if (bars.bars.empty()) {
        leave_out_without_launches(figure);
        return figure;
    }
    figure.caption += "Without the time between launches.";
    figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace

std::vector<Figure> kernel_figures(const Result& result) {
    return {each_kernel_figure(result), stacked_figure(result)};
}

}  // namespace sawtooth::lut

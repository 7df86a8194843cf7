// The time of each kernel, beside a copy of the bytes that it moves.

#include <fmt/format.h>

#include <algorithm>

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

// "fill_outputs takes 71 % of unfused: 12.3 us for 1.5 MiB, 23 % of the rate of a copy. "
std::string words_of_longest(const VariantResult& variant, const std::vector<Kernel>& kernels, double copy) {
    const auto longest =
        std::max_element(kernels.begin(), kernels.end(),
                         [](const Kernel& one, const Kernel& other) { return one.us < other.us; });
    if (longest == kernels.end() || longest->us <= 0) return "";
    double all = 0;
    for (const Kernel& kernel : kernels) all += kernel.us;
    std::string words = kernels.size() == 1
                            ? fmt::format("{} is one launch, {}", variant.name, longest->name)
                            : fmt::format("{} takes {:.0f} % of the kernel time of {}", longest->name,
                                          100 * longest->us / all, variant.name);
    words += fmt::format(": {} for {}", short_time(longest->us), short_bytes(longest->bytes));
    if (copy > 0)
        words += ", " + percent(longest->gigabytes_per_second() / copy) + " % of the rate of a copy";
    return words + ". ";
}

// Those that take less than a fiftieth of the time as one, so that a figure has room for the others.
std::vector<Kernel> with_small_ones_together(std::vector<Kernel> kernels) {
    double all = 0;
    for (const Kernel& kernel : kernels) all += kernel.us;
    const auto small = std::stable_partition(kernels.begin(), kernels.end(),
                                             [&](const Kernel& kernel) { return 50 * kernel.us >= all; });
    const auto count = kernels.end() - small;
    if (count < 2) return kernels;
    Kernel together{fmt::format("{} others", count)};
    together.launches = 1;
    for (auto each = small; each != kernels.end(); ++each) {
        together.us += each->us;
        together.bytes += each->bytes;
    }
    kernels.erase(small, kernels.end());
    kernels.push_back(std::move(together));
    return kernels;
}

void leave_out_without_launches(Figure& figure) {
    leave_out(figure, "Available after a run with repeats (press F5).");
}

Figure each_kernel_figure(const Result& result) {
    Figure figure = new_figure("kernels", Place::views, "Time of each kernel", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {});
    const double copy = copy_rate(result);
    constexpr size_t most_bars = 14;
    size_t all = 0;
    for (const VariantResult& variant : result.variants) all += kernels_of(variant).size();
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        std::vector<Kernel> kernels = kernels_of(variant);
        if (all > most_bars) kernels = with_small_ones_together(std::move(kernels));
        for (const Kernel& kernel : kernels) {
            Bar bar{.ink = ink_of(variant), .segments = {{"", kernel.us}}, .low = {}, .high = {}, .text = {}};
            bar.text = words_of(kernel);
            if (copy > 0) bar.tick = Bar::Segment{"a copy of its bytes", kernel.bytes / copy / 1e3};
            bar.launches = {kernel.name};
            bars.bars.push_back(std::move(bar));
            figure.y.categories.push_back(
                kernel.launches == 1 ? kernel.name : fmt::format("{}, {}x", kernel.name, kernel.launches));
        }
        figure.caption += words_of_longest(variant, kernels, copy);
    }
    if (bars.bars.empty()) {
        leave_out_without_launches(figure);
        return figure;
    }
    if (copy > 0) figure.caption += "Ticks: a copy of the bytes that the kernel moves.";
    figure.marks.push_back(std::move(bars));
    return figure;
}

Figure stacked_figure(const Result& result) {
    Figure figure = new_figure("kernels-stacked", Place::views, "Time by kernel, stacked", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "variant"});
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        Bar bar{.ink = ink_of(variant), .segments = {}, .low = {}, .high = {}, .text = {}};
        double all = 0;
        for (const Kernel& kernel : kernels_of(variant)) {
            bar.segments.push_back({kernel.name, kernel.us});
            all += kernel.us;
        }
        if (bar.segments.empty()) continue;
        bar.text = short_time(all);
        bar.badge = wrong_words(result, variant);
        figure.caption +=
            fmt::format("{}: {} in {} {}. ", variant.name, short_time(all), variant.launches.size(),
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

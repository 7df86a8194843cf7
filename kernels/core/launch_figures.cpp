#include "kernels/core/launch_figures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "kernels/core/ceilings.h"
#include "kernels/core/correctness.h"
#include "kernels/core/figures.h"
#include "kernels/core/lanes.h"
#include "kernels/core/table.h"
#include "kernels/core/timeline.h"

namespace sawtooth {

std::vector<Kernel> kernels_of(const VariantResult& variant, StepOf step_of) {
    std::vector<Kernel> kernels;
    for (const LaunchRecord& launch : variant.launches) {
        const std::string step = step_of ? step_of(launch.info->name) : "";
        const std::string& name = step.empty() ? launch.info->name : step;
        auto same = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const Kernel& each) { return each.name == name; });
        if (same == kernels.end()) same = kernels.insert(kernels.end(), Kernel{name});
        same->us += launch.duration_us;
        same->bytes += launch.info->work.bytes;
        ++same->count;
        std::vector<std::string>& names = same->launches;
        if (std::find(names.begin(), names.end(), launch.info->name) == names.end())
            names.push_back(launch.info->name);
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

// "1 launch", "1,024 launches"
std::string words_of_launches(int64_t count) {
    return with_thousands(count) + (count == 1 ? " launch" : " launches");
}

// "12.3 us, 4.5 GB/s"
std::string words_of(const Kernel& kernel) {
    if (kernel.us <= 0) return short_time(kernel.us);
    const double rate = kernel.gigabytes_per_second();
    return short_time(kernel.us) + ", " +
           (rate < 999.5 ? rounded(rate, 3) : with_thousands(std::llround(rate))) + " GB/s";
}

// "fill_outputs takes 71 % of the kernel time of unfused: 12.3 us for 1.5 MiB, 23 % of copy bandwidth. "
std::string words_of_longest(const VariantResult& variant, const std::vector<Kernel>& kernels, double copy) {
    const double all = total_us(kernels);
    if (all <= 0) return "";
    const Kernel longest = longest_of(kernels, 1).front();
    std::string words = kernels.size() == 1 ? variant.name + " is one launch, " + longest.name
                                            : longest.name + " takes " + percent_number(longest.us / all) +
                                                  " % of the kernel time of " + variant.name;
    words += ": " + short_time(longest.us) + " for " + short_bytes(longest.bytes);
    if (copy > 0) words += ", " + share_words(longest.gigabytes_per_second(), copy, "copy bandwidth");
    return words + ". ";
}

// The longest kernels, and one row for the sum of the others.
std::vector<Kernel> in_rows(const std::vector<Kernel>& kernels, size_t rows) {
    if (kernels.size() <= rows) return kernels;
    std::vector<Kernel> shown = longest_of(kernels, rows - 1);
    Kernel others{std::to_string(kernels.size() - shown.size()) + " others"};
    others.count = 1;
    for (const Kernel& kernel : kernels) {
        if (std::any_of(shown.begin(), shown.end(),
                        [&](const Kernel& each) { return each.name == kernel.name; }))
            continue;
        others.us += kernel.us;
        others.bytes += kernel.bytes;
        others.launches.insert(others.launches.end(), kernel.launches.begin(), kernel.launches.end());
    }
    shown.push_back(std::move(others));
    return shown;
}

// "gather_x_gradients, 2x"
std::string row_name(const Kernel& kernel, LabelOf label_of) {
    const std::string label = label_of ? label_of(kernel.name) : kernel.name;
    return kernel.count == 1 ? label : label + ", " + with_thousands(kernel.count) + "x";
}

void leave_out_without_launches(Figure& figure) {
    leave_out(figure, "Available after a run with repeats (press F5).");
}

Bar bar_of(const VariantResult& variant, const Kernel& kernel, double copy) {
    Bar bar{.ink = ink_of(variant), .segments = {{"", kernel.us}}, .low = {}, .high = {}, .text = {}};
    bar.text = words_of(kernel);
    if (copy > 0) bar.tick = Bar::Segment{"a copy of its bytes", kernel.bytes / copy / 1e3};
    bar.launches = kernel.launches;
    return bar;
}

// Logarithmic if the bars of a variant would be too short to see.
void choose_scale(Figure& figure, const std::vector<std::vector<Kernel>>& of_variants) {
    constexpr double most_in_sight = 20;
    double least = gap, shortest = gap, longest = gap;  // of all kernels; of the longest one of each variant
    for (const std::vector<Kernel>& kernels : of_variants) {
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

// The most rows per variant that keep all variants together within `most`.
size_t rows_each(const std::vector<std::vector<Kernel>>& of_variants, size_t most) {
    const auto used = [&](size_t rows) {
        return std::accumulate(
            of_variants.begin(), of_variants.end(), size_t{0},
            [&](size_t sum, const auto& kernels) { return sum + std::min(kernels.size(), rows); });
    };
    size_t rows = 1;
    while (rows < most && used(rows + 1) <= most) ++rows;
    return rows;
}

Figure each_kernel_figure(const Result& result, const KernelRows& shown) {
    Figure figure = new_figure("kernels", Place::views, "Time of each kernel", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {});
    const double copy = copy_rate(result);
    std::vector<std::vector<Kernel>> of_variants;
    for (const VariantResult& variant : result.variants)
        of_variants.push_back(kernels_of(variant, shown.step_of));
    const size_t rows = rows_each(of_variants, shown.most);
    Bars bars;
    for (size_t v = 0; v < result.variants.size(); ++v) {
        const VariantResult& variant = result.variants[v];
        for (const Kernel& kernel : in_rows(of_variants[v], rows)) {
            bars.bars.push_back(bar_of(variant, kernel, copy));
            figure.y.categories.push_back(row_name(kernel, shown.label_of));
        }
        figure.caption += words_of_longest(variant, of_variants[v], copy);
    }
    if (bars.bars.empty()) {
        leave_out_without_launches(figure);
        return figure;
    }
    if (copy > 0) figure.caption += "Ticks: a copy of the bytes that the kernel moves.";
    choose_scale(figure, of_variants);
    figure.marks.push_back(std::move(bars));
    return figure;
}

// "unfused: 12.3 us in 11 launches, 31 % of it in hidden. "
std::string words_of_stack(const VariantResult& variant, const std::vector<Kernel>& kernels) {
    const double all = total_us(kernels);
    std::string words = variant.name + ": " + short_time(all) + " in " +
                        words_of_launches(static_cast<int64_t>(variant.launches.size()));
    if (all > 0 && kernels.size() > 1) {
        const Kernel longest = longest_of(kernels, 1).front();
        words += ", " + percent_number(longest.us / all) + " % of it in " + longest.name;
    }
    return words + ". ";
}

Figure stacked_figure(const Result& result, StepOf step_of) {
    Figure figure = new_figure("kernels-stacked", Place::views, "Time by kernel, stacked", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "variant"});
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        const std::vector<Kernel> kernels = kernels_of(variant, step_of);
        if (kernels.empty()) continue;
        Bar bar{.ink = ink_of(variant), .segments = {}, .low = {}, .high = {}, .text = {}};
        for (const Kernel& kernel : kernels) bar.segments.push_back({kernel.name, kernel.us});
        bar.text = short_time(total_us(kernels));
        bar.badge = wrong_badge(variant);
        figure.caption += words_of_stack(variant, kernels);
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

// "first 18 us", "18 us from 120 us"
std::string words_of(const View::Range& part) {
    const std::string length = short_time(part.high - part.low);
    return part.low == 0 ? "first " + length : length + " from " + short_time(part.low);
}

// Otherwise it would be one solid bar.
bool ends_a_launch_within(const VariantResult& variant, double end) {
    const LaunchRecord& first = variant.launches.front();
    return first.start_us + first.duration_us < end;
}

}  // namespace

std::vector<Figure> kernel_figures(const Result& result, const KernelRows& rows) {
    return {each_kernel_figure(result, rows), stacked_figure(result, rows.step_of)};
}

Figure launches_figure(const Result& result, const View& view, std::string title) {
    constexpr size_t zoomed_launches = 30, most_without_zoom = 2 * zoomed_launches;
    Figure figure = new_figure("launches", Place::views, std::move(title), "",
                               {.label = "time", .unit = "us", .minimum = 0, .shared = Lanes::time}, {});
    std::vector<const VariantResult*> ran;
    double end = 0;
    for (const VariantResult& variant : result.variants)
        if (!variant.launches.empty()) {
            ran.push_back(&variant);
            end = std::max(end, end_us_of(variant.launches));
        }
    if (ran.empty()) {
        figure.missing =
            "The launches of every variant and the idle time between them. Run with profile timeline.";
        return figure;
    }
    const auto most = *std::max_element(ran.begin(), ran.end(), [](const auto* one, const auto* other) {
        return one->launches.size() < other->launches.size();
    });
    const View::Range part = usual_launches(most->launches, zoomed_launches);
    Lanes lanes(view, end, part.high - part.low);
    for (const VariantResult* variant : ran) {
        lanes.add(launch_track(*variant, variant->name, lanes.whole()));
        figure.caption += (figure.caption.empty() ? "" : ". ") + variant->name + ": " +
                          (variant == most ? idle_words(result, *variant)
                                           : words_of_launches(variant->launch_count) + ", " +
                                                 short_time(end_us_of(variant->launches)));
    }
    figure.caption += ".";
    if (most->launches.size() > most_without_zoom)
        for (const VariantResult* variant : ran) {
            const View::Range seen_part = variant == most ? part : View::Range{0, part.high - part.low};
            if (!ends_a_launch_within(*variant, seen_part.high)) continue;
            const View seen = lanes.from(seen_part.low);
            lanes.add_from(seen_part.low,
                           launch_track(*variant, variant->name + ", " + words_of(seen_part), seen));
            if (variant == most) lanes.add_from(seen_part.low, busy_track(*variant, result.backend, seen));
        }
    figure.marks.push_back(lanes.take());
    return figure;
}

}  // namespace sawtooth

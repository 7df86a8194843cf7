#include "kernels/figures/launch_figures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "kernels/core/ceilings.h"
#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/timeline.h"
#include "kernels/figures/zoom.h"

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
    while (kernels.size() > most)  // of several equal ones the first stays
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

// Keeps the longest kernels, and one row for the sum of the others.
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

// The largest number of rows per variant for which all variants together have at most `most` rows.
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
    // The longest kernel of each variant must be visible; a much shorter one beside it need not be.
    std::vector<double> longest;
    for (const std::vector<Kernel>& kernels : of_variants)
        if (!kernels.empty()) longest.push_back(longest_of(kernels, 1).front().us);
    break_long_bars(figure, bars, std::move(longest));
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
    break_long_bars(figure, bars, lengths_of(bars));
    figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace

std::vector<Figure> kernel_figures(const Result& result, const KernelRows& rows) {
    return {each_kernel_figure(result, rows), stacked_figure(result, rows.step_of)};
}

std::vector<Figure> launches_figures(const Result& result, const View& view, std::string title) {
    constexpr size_t zoomed_launches = 30, most_without_zoom = 2 * zoomed_launches;
    Figure figure = new_figure("launches", Place::views, std::move(title), "",
                               {.label = "time", .unit = "us", .minimum = 0, .shared = time_of_runs}, {});
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
        return {std::move(figure)};
    }
    const auto most = *std::max_element(ran.begin(), ran.end(), [](const auto* one, const auto* other) {
        return one->launches.size() < other->launches.size();
    });
    const View seen = view_of(view, time_of_runs, {0, end});
    Tracks tracks;
    for (const VariantResult* variant : ran) {
        tracks.tracks.push_back(launch_track(*variant, variant->name, seen));
        figure.caption +=
            (figure.caption.empty() ? "" : " ") + variant->name + ": " +
            (variant == most ? idle_words(result, *variant)
                             : words_of_launches(variant->launch_count) + ", " +
                                   short_time(end_us_of(variant->launches)) +
                                   words_when_not_recorded(result, *variant, end_us_of(variant->launches))) +
            ".";
    }
    figure.marks.push_back(std::move(tracks));
    if (most->launches.size() <= most_without_zoom) return {std::move(figure)};
    const View::Range part = typical_launches(most->launches, zoomed_launches);
    Figure zoom = zoom_of(figure, part, zoomed_launches);
    Tracks zoomed;
    const View seen_part = view_of(view, time_of_zoom, part);
    add_tracks(zoomed, result, *most, most->name, seen_part);
    zoom.caption = terms_of_launches(result.backend);
    zoom.marks.push_back(std::move(zoomed));
    return {std::move(figure), std::move(zoom)};
}

}  // namespace sawtooth

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/ceilings.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "profiling/figures.h"

namespace sawtooth {
namespace {

constexpr const char* counted_bytes = "DRAM bytes";  // the name of the counter

// The launches of a variant that have one name.
struct Launches {
    std::string name;
    double operations = 0, bytes = 0, us = 0;
};

// A variant in the roofline: what its launches declare, and the bytes that counters measured.
struct Marked {
    const VariantResult* variant;
    double operations = 0, bytes = 0;
    std::optional<double> measured_bytes = {};
    double per_second = 0;  // operations
    // If they have several names, those that declare operations and bytes.
    std::vector<Launches> launches = {};

    double intensity() const { return operations / bytes; }
};

// What launches declare together, and how long they took.
std::vector<Launches> launches_of(const VariantResult& variant) {
    std::vector<Launches> all;
    for (const LaunchRecord& launch : variant.launches) {
        auto named = std::find_if(all.begin(), all.end(),
                                  [&](const Launches& one) { return one.name == launch.info->name; });
        if (named == all.end()) named = all.insert(named, Launches{launch.info->name});
        named->operations += launch.info->work.operations;
        named->bytes += launch.info->work.bytes;
        named->us += launch.duration_us;
    }
    if (all.size() == 1) all.clear();
    std::erase_if(
        all, [](const Launches& one) { return !(one.operations > 0) || !(one.bytes > 0) || !(one.us > 0); });
    return all;
}

// Absent without time, without declared operations or bytes, or if not all launches were kept.
std::optional<Marked> marked(const VariantResult& variant) {
    if (!variant.time || !(variant.time->median > 0)) return {};
    if (static_cast<int64_t>(variant.launches.size()) < variant.launch_count) return {};
    Marked mark{&variant};
    double counted = 0;
    bool all_counted = true;
    for (const LaunchRecord& launch : variant.launches) {
        mark.operations += launch.info->work.operations;
        mark.bytes += launch.info->work.bytes;
        const auto bytes = launch.counters.find(counted_bytes);
        all_counted = all_counted && bytes != launch.counters.end();
        if (all_counted) counted += bytes->second;
    }
    if (!(mark.operations > 0) || !(mark.bytes > 0)) return {};
    if (all_counted && counted > 0) mark.measured_bytes = counted;
    mark.per_second = mark.operations / (variant.time->median / 1e6);
    mark.launches = launches_of(variant);
    return mark;
}

constexpr double giga = 1e9;

// "20.1 GB/s", "600 TFLOP/s"
std::string rate_words(double per_second, const std::string& unit) {
    const bool is_tera = per_second >= 1e12;
    return short_number(std::stod(rounded(per_second / (is_tera ? 1e12 : giga), 3))) +
           (is_tera ? " T" : " G") + unit;
}

// A horizontal ceiling, from where the bandwidth allows it on.
Line peak_line(const std::string& name, double peak, double bandwidth, double end, Ink ink) {
    return {.label = name + ", " + rate_words(peak, "FLOP/s"),
            .ink = ink,
            .x = {peak / bandwidth, end},
            .y = {peak / giga, peak / giga}};
}

// A sloped ceiling, up to the highest peak.
Line bandwidth_line(const std::string& name, double bandwidth, double peak, double begin, Ink ink) {
    return {.label = name + ", " + rate_words(bandwidth, "B/s"),
            .ink = ink,
            .x = {begin, peak / bandwidth},
            .y = {begin * bandwidth / giga, peak / giga}};
}

void add_ceilings(Figure& figure, const Ceilings& ceilings, View::Range seen) {
    const double copy = ceilings.copy_bytes_per_second, f32 = ceilings.operations_per_second;
    const double bf16 = ceilings.gpu ? ceilings.gpu->bf16_operations_per_second : 0;
    const double l2 = ceilings.gpu ? ceilings.gpu->l2_read_bytes_per_second : 0;
    const double bandwidth = std::max(copy, l2), peak = std::max(f32, bf16);
    figure.marks.push_back(bandwidth_line("copy", copy, peak, seen.low, {Ink::Role::limit}));
    if (l2 > copy)
        figure.marks.push_back(
            bandwidth_line("reads from L2", l2, peak, seen.low, {Ink::Role::limit, 0, true}));
    figure.marks.push_back(peak_line("f32 peak", f32, bandwidth, seen.high, {Ink::Role::reference}));
    if (bf16 > 0)
        figure.marks.push_back(
            peak_line("bf16 tensor core peak", bf16, bandwidth, seen.high, {Ink::Role::highlight}));
}

void add_marks(Figure& figure, const std::vector<Marked>& marks) {
    for (const Marked& mark : marks) {
        const VariantResult& variant = *mark.variant;
        Line point{.label = variant.name,
                   .ink = ink_of(variant),
                   .x = {mark.intensity()},
                   .y = {mark.per_second / giga},
                   .markers = true,
                   .wrong = {wrong_badge(variant)},
                   .unstable = {unstable_badge(*variant.time)},
                   .joined = false};
        figure.marks.push_back(point);
        if (!mark.launches.empty()) {
            Line parts{.label = variant.name + ", launches",
                       .ink = ink_of(variant),
                       .x = {},
                       .y = {},
                       .joined = false};
            for (const Launches& part : mark.launches) {
                parts.x.push_back(part.operations / part.bytes);
                parts.y.push_back(part.operations / (part.us / 1e6) / giga);
                parts.names.push_back(part.name);
            }
            figure.marks.push_back(std::move(parts));
        }
        if (!mark.measured_bytes) continue;
        point.label += ", measured DRAM bytes";
        point.ink.dashed = true;
        point.x = {mark.operations / *mark.measured_bytes};
        figure.marks.push_back(std::move(point));
    }
}

// The range of x: that of the marks and the ridges, with a factor of 4 on both sides.
View::Range range_of(const std::vector<Marked>& marks, const Ceilings& ceilings) {
    constexpr double margin = 4;
    double low = ceilings.operations_per_second / ceilings.copy_bytes_per_second, high = low;
    if (ceilings.gpu)
        high = std::max(high, ceilings.gpu->bf16_operations_per_second / ceilings.copy_bytes_per_second);
    const auto include = [&](double intensity) {
        low = std::min(low, intensity);
        high = std::max(high, intensity);
    };
    for (const Marked& mark : marks) {
        include(mark.intensity());
        if (mark.measured_bytes) include(mark.operations / *mark.measured_bytes);
        for (const Launches& part : mark.launches) include(part.operations / part.bytes);
    }
    return {low / margin, high * margin};
}

// What the numbers say about the fastest right variant: "fused does 0.25 FLOP per byte and reaches 83 % of
// copy bandwidth, which limits it." A limit is named only if the variant is close to it, and beside it only
// where one ceiling is the lowest.
std::string caption_of(const Result& result, const std::vector<Marked>& marks) {
    constexpr double close = 0.7;
    const auto fastest = fastest_right(result);
    const auto found = std::find_if(marks.begin(), marks.end(), [&](const Marked& mark) {
        return !fastest.empty() && mark.variant == fastest.front();
    });
    if (found == marks.end()) return "";
    const Ceilings& ceilings = *result.ceilings;
    const double ridge = ceilings.operations_per_second / ceilings.copy_bytes_per_second;
    const std::string intensity = short_number(std::stod(rounded(found->intensity(), 2)));
    std::string words = found->variant->name + " does " + intensity + " FLOP per byte and reaches ";
    const bool by_memory = found->intensity() < ridge;
    // Beyond the ridge of f32, a GPU may use tensor cores, whose share in the operations is not known.
    if (!by_memory && ceilings.gpu) {
        const auto of = [&](double peak, const std::string& name) {
            return share_words(found->per_second, peak, name);
        };
        return found->variant->name + " does " + intensity +
               " FLOP per byte: " + of(ceilings.operations_per_second, "the f32 peak") + ", " +
               of(ceilings.gpu->bf16_operations_per_second, "the bf16 tensor core peak") + ". ";
    }
    const double rate = by_memory ? found->per_second / found->intensity() : found->per_second;
    const double limit = by_memory ? ceilings.copy_bytes_per_second : ceilings.operations_per_second;
    const std::string name = by_memory ? "copy bandwidth" : "the f32 peak";
    const auto share = share_of_limit(rate, limit);
    if (!share)
        return found->variant->name + " is above " + name +
               (by_memory ? ": a cache holds part of its data. " : ". ");
    words += share_words(rate, limit, name);
    if (*share < close) return words + ", the nearest ceiling. ";
    const double same_size = by_memory && result.copy ? 1e9 * result.copy->gigabytes_per_second() : 0;
    return words + (same_size > limit ? "; a copy of its size is faster. " : ", which limits it. ");
}

}  // namespace

Figure roofline_figure(const Result& result) {
    Figure figure = new_figure("roofline", Place::views, "Roofline", "",
                               {.label = "arithmetic intensity", .unit = "FLOP/byte", .scale = Scale::log10},
                               {.label = "arithmetic", .unit = "GFLOP/s", .scale = Scale::log10});
    if (!result.ceilings || !(result.ceilings->copy_bytes_per_second > 0) ||
        !(result.ceilings->operations_per_second > 0)) {
        leave_out(figure, "Needs the measured limits of the machine: run `sawtooth devices --measure`.");
        return figure;
    }
    std::vector<Marked> marks;
    for (const VariantResult& variant : result.variants)
        if (auto mark = marked(variant)) marks.push_back(*mark);
    if (marks.empty()) {
        leave_out(figure,
                  "Needs a timed variant whose launches are recorded and declare operations: run with "
                  "profile timeline.");
        return figure;
    }
    const View::Range range = range_of(marks, *result.ceilings);
    figure.x.minimum = range.low;
    figure.x.maximum = range.high;
    add_ceilings(figure, *result.ceilings, range);
    add_marks(figure, marks);
    figure.caption = caption_of(result, marks) + "Bytes and operations are those that launches declare.";
    if (std::any_of(marks.begin(), marks.end(), [](const Marked& mark) { return !mark.launches.empty(); }))
        figure.caption += " Small marks are the launches of a variant, by name.";
    return figure;
}

}  // namespace sawtooth

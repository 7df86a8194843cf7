#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/table.h"
#include "kernels/cuda/chips.h"
#include "kernels/cuda/occupancy.h"
#include "kernels/figures/figures.h"
#include "profiling/figures.h"

namespace sawtooth {
namespace {

constexpr int64_t most_threads_of_block = 1024;
constexpr int least_registers = 16, most_registers = 255;  // per thread; 255 on every chip since 3.5
constexpr int64_t warp = 32, kib = 1024;

// The launch that is drawn: it takes most of the time, or without times has the least occupancy.
struct Chosen {
    const VariantResult* variant;
    const CompiledLaunch* launch;
    Chip chip;
};

// The time of all launches with that name.
double us_of(const VariantResult& variant, const std::string& launch) {
    double us = 0;
    for (const LaunchRecord& record : variant.launches)
        if (record.info->name == launch && record.info->resources) us += record.duration_us;
    return us;
}

std::optional<Chosen> chosen_of(const Result& result) {
    std::optional<Chosen> chosen;
    double most_us = 0, least = 2;
    for (const VariantResult& variant : result.variants)
        for (const CompiledLaunch& launch : variant.compiled) {
            if (launch.threads < 1 || launch.threads > most_threads_of_block) continue;
            const auto chip = cuda::chip_of(launch.architecture);
            if (!chip || !launch.occupancy.theoretical) continue;
            const double us = us_of(variant, launch.launch), share = *launch.occupancy.theoretical;
            if (chosen && (us < most_us || (us == most_us && share >= least))) continue;
            chosen = Chosen{&variant, &launch, *chip};
            most_us = us, least = share;
        }
    return chosen;
}

// One of the numbers that decide the occupancy, at the values from `first` to `last`.
struct Curve {
    std::string id, title;
    Axis axis;
    std::string noun;  // "registers per thread"
    int64_t first = 0, last = 0, step = 1;
    int64_t present = 0;
    double unit = 1;                                   // values per unit of the axis
    std::function<double(int64_t)> occupancy_at = {};  // in percent
};

std::string percent_words(double percent) { return percent_number(percent / 100) + " %"; }

// The nearest value with more occupancy than the present one; of two, the smaller one. Absent if none has.
std::optional<int64_t> nearest_with_more(const Curve& curve) {
    const double now = curve.occupancy_at(curve.present);
    std::optional<int64_t> nearest;
    for (int64_t at = curve.first; at <= curve.last; at += curve.step)
        if (curve.occupancy_at(at) > now &&
            (!nearest || std::abs(at - curve.present) < std::abs(*nearest - curve.present)))
            nearest = at;
    return nearest;
}

// "40", "33.2"
std::string value_words(const Curve& curve, int64_t value) {
    return short_number(static_cast<double>(value) / curve.unit);
}

// "75 % with 40 registers per thread, limited by registers; 100 % with 32. "
std::string caption_of(const Curve& curve, const Chosen& chosen) {
    const double now = curve.occupancy_at(curve.present);
    std::string words = percent_words(now) + " with " + value_words(curve, curve.present) + " " + curve.noun;
    if (now < 100)
        words += ", " + std::string(now > 0 ? "limited by " : "") + chosen.launch->occupancy.limiter;
    if (const auto more = nearest_with_more(curve))
        words += "; " + percent_words(curve.occupancy_at(*more)) + " with " + value_words(curve, *more);
    else if (now < 100)
        words += "; no other value gives more";
    return words + ". Everything else stays as it is.";
}

Figure figure_of(const Curve& curve, const Chosen& chosen) {
    Figure figure = new_figure(curve.id, Place::views,
                               curve.title + ", " + chosen.launch->launch + " of " + chosen.variant->name +
                                   ", " + chosen.chip.architecture,
                               caption_of(curve, chosen), curve.axis,
                               {.label = "occupancy", .unit = "%", .minimum = 0, .maximum = 105});
    Line line{.label = chosen.variant->name, .ink = ink_of(*chosen.variant), .x = {}, .y = {}};
    for (int64_t at = curve.first; at <= curve.last; at += curve.step) {
        line.x.push_back(static_cast<double>(at) / curve.unit);
        line.y.push_back(curve.occupancy_at(at));
    }
    figure.marks.push_back(std::move(line));
    const double now = curve.occupancy_at(curve.present);
    figure.marks.push_back(Note{static_cast<double>(curve.present) / curve.unit, now,
                                value_words(curve, curve.present) + ": " + percent_words(now)});
    return figure;
}

std::vector<Curve> curves_of(const Chosen& chosen) {
    std::vector<Curve> curves{{"occupancy-registers",
                               "Occupancy against registers",
                               {.label = "registers per thread", .whole = true},
                               "registers per thread"},
                              {"occupancy-shared",
                               "Occupancy against shared memory",
                               {.label = "shared memory per thread block", .unit = "KiB"},
                               "KiB of shared memory per thread block"},
                              {"occupancy-block",
                               "Occupancy against block size",
                               {.label = "block size", .unit = "threads", .whole = true},
                               "threads per block"}};
    const int64_t threads = chosen.launch->threads;
    const Resources& now = chosen.launch->resources;
    const auto occupancy = [chip = chosen.chip](int64_t of_threads, const Resources& with) {
        return 100 * cuda::theoretical_occupancy(chip, of_threads, with).theoretical.value_or(0);
    };
    Curve &registers = curves[0], &shared = curves[1], &block = curves[2];
    registers.first = least_registers, registers.last = most_registers;
    registers.present = now.registers;
    registers.occupancy_at = [=](int64_t at) {
        return occupancy(threads, {static_cast<int>(at), now.shared_bytes, 0});
    };
    shared.last = chosen.chip.shared_bytes_per_block, shared.step = kib;
    shared.present = now.shared_bytes, shared.unit = kib;
    shared.occupancy_at = [=](int64_t at) { return occupancy(threads, {now.registers, at, 0}); };
    block.first = block.step = warp, block.last = most_threads_of_block;
    block.present = threads;
    block.occupancy_at = [=](int64_t at) { return occupancy(at, now); };
    return curves;
}

}  // namespace

std::vector<Figure> occupancy_curve_figures(const Result& result) {
    const auto chosen = chosen_of(result);
    std::vector<Figure> figures;
    if (!chosen) {
        // One place says it for all three.
        figures.push_back(
            new_figure("occupancy-registers", Place::views, "Occupancy against registers", "", {}, {}));
        leave_out(
            figures.back(),
            "Needs a kernel that is compiled for a GPU, as do the curves against shared memory and block "
            "size: choose a chip (--arch), which does not have to be in this machine.");
        return figures;
    }
    for (const Curve& curve : curves_of(*chosen)) figures.push_back(figure_of(curve, *chosen));
    return figures;
}

}  // namespace sawtooth

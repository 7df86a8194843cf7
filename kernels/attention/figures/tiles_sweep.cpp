// Time and occupancy over the grid of BLOCK_M and BLOCK_N.

#include <fmt/format.h>

#include <cmath>

#include "kernels/attention/family.h"
#include "kernels/attention/figures/sweeps.h"
#include "kernels/core/correctness.h"
#include "kernels/core/figures.h"
#include "kernels/core/table.h"

namespace sawtooth::attention {
namespace {

const std::string& variant_of(const SweepResult& sweep) { return sweep.sweep.base.variants.front(); }

const VariantResult* ran_in(const SweepCell& cell, const std::string& variant) {
    const VariantResult* const found = cell.result ? find(*cell.result, variant) : nullptr;
    return found && found->ran() ? found : nullptr;
}

Setting setting_of(const SweepAxis& axis) {
    Setting sets{axis.parameter, {}};
    for (const Value& value : axis.values)
        sets.values.push_back(static_cast<double>(std::get<int64_t>(value)));
    return sets;
}

Axis named_axis(const SweepAxis& swept) {
    Axis axis{.label = swept.parameter, .unit = attention_family().parameter(swept.parameter)->unit};
    for (const Value& value : swept.values) axis.categories.push_back(to_text(value));
    return axis;
}

// "BLOCK_M = 256, …: needs …" without the values, which are those of the axes.
std::string without_values(const std::string& reason) {
    const size_t colon = reason.find(": ");
    return colon == std::string::npos ? reason : reason.substr(colon + 2);
}

// A grid without values; the reason of every refused cell is its text.
HeatMap grid_of(const SweepResult& sweep, std::string label, std::string unit) {
    const SweepAxis &rows = sweep.sweep.axes[0], &columns = sweep.sweep.axes[1];
    HeatMap map = heat_map(std::move(label), static_cast<int64_t>(rows.values.size()),
                           static_cast<int64_t>(columns.values.size()));
    map.unit = std::move(unit);
    map.values.assign(sweep.sweep.cells(), gap);
    map.texts.assign(sweep.sweep.cells(), "");
    map.sets_x = setting_of(columns);
    map.sets_y = setting_of(rows);
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        map.texts[i] = without_values(reason_refused(sweep.cells[i], variant_of(sweep)));
    }
    return map;
}

// "64 x 128"
std::string name_of_cell(const SweepCell& cell) {
    return to_text(cell.values[0]) + " x " + to_text(cell.values[1]);
}

// Why the cell has no kernel for the chip that it was also compiled for; "" if it has one.
std::string reason_not_compiled(const SweepCell& cell, const std::string& variant) {
    if (!cell.result) return "";
    for (const std::string& note : cell.result->notes)
        if (note.starts_with(variant + " cannot be compiled for "))
            return without_values(without_values(note));
    return "";
}

// " 5 of 25 are refused, the first at 128 x 256: needs …": cells without a value, but with a reason.
std::string words_of_refused(const SweepResult& sweep, const HeatMap& map) {
    const std::string& name = variant_of(sweep);
    size_t count = 0, first = sweep.cells.size();
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        if (!std::isnan(map.values[i]) || map.texts[i].empty()) continue;
        const SweepCell& cell = sweep.cells[i];
        const bool is_wrong = ran_in(cell, name) && reason_not_compiled(cell, name).empty();
        if (is_wrong) continue;
        first = std::min(first, i);
        ++count;
    }
    if (count == 0) return "";
    return fmt::format(" {} of {} are refused, the first at {}: {}.", count, map.values.size(),
                       name_of_cell(sweep.cells[first]), map.texts[first]);
}

void frame(HeatMap& map, size_t cell, std::string label) {
    const auto at = static_cast<int64_t>(cell);
    map.framed.push_back({at / map.columns, at % map.columns, std::move(label), {Ink::Role::highlight}});
}

Figure figure_of(const SweepResult& sweep, const std::string& id, const std::string& what,
                 std::string caption, HeatMap map) {
    const std::string& variant = variant_of(sweep);
    Figure figure =
        new_figure(variant == "streaming" ? id : id + "_" + variant, Place::views,
                   fmt::format("{} by BLOCK_M and BLOCK_N: {}", what, variant), std::move(caption),
                   named_axis(sweep.sweep.axes[1]), named_axis(sweep.sweep.axes[0]));
    if (sweep.cells.empty())
        figure.missing = "Cells appear as the sweep runs.";
    else
        figure.marks.push_back(std::move(map));
    return figure;
}

Figure time_figure(const SweepResult& sweep) {
    HeatMap map = grid_of(sweep, "time", "us");
    map.logarithmic = true;
    size_t fastest = sweep.cells.size(), slowest = fastest;
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const VariantResult* const variant = ran_in(sweep.cells[i], variant_of(sweep));
        if (!variant || !variant->time) continue;
        const double us = variant->time->median;
        if (const std::string wrong = wrong_words(*sweep.cells[i].result, *variant); !wrong.empty()) {
            map.texts[i] = wrong;  // without a colour, which would invite to choose it
            continue;
        }
        map.values[i] = us;
        map.texts[i] = short_time(us);
        if (fastest == sweep.cells.size() || map.values[i] < map.values[fastest]) fastest = i;
        if (slowest == sweep.cells.size() || map.values[i] > map.values[slowest]) slowest = i;
    }
    std::string caption;
    if (fastest < sweep.cells.size()) {
        frame(map, fastest, "fastest");
        caption = fmt::format("Fastest: {} in {}; {} takes {:.1f}x as long. {}.",
                              name_of_cell(sweep.cells[fastest]), short_time(map.values[fastest]),
                              name_of_cell(sweep.cells[slowest]), map.values[slowest] / map.values[fastest],
                              shape_words(sweep.cells[fastest].result->parameters));
    }
    caption += words_of_refused(sweep, map);
    return figure_of(sweep, "time_by_tiles", "Time", std::move(caption), std::move(map));
}

// Of the forward kernel on the GPU that ran it, or for the chip that it was also compiled for.
const Occupancy* occupancy_of(const SweepCell& cell, const std::string& name) {
    const VariantResult* const variant = ran_in(cell, name);
    if (!variant) return nullptr;
    for (const LaunchRecord& launch : variant->launches)
        if (launch.info->name == "forward" && launch.occupancy.theoretical) return &launch.occupancy;
    for (const CompiledLaunch& launch : variant->compiled)
        if (launch.launch == "forward" && launch.occupancy.theoretical) return &launch.occupancy;
    return nullptr;
}

// "25 %, registers"
std::string words_of(const Occupancy& occupancy) {
    std::string words = fmt::format("{:.0f} %", 100 * *occupancy.theoretical);
    if (occupancy.achieved) words += fmt::format(", achieved {:.0f} %", 100 * *occupancy.achieved);
    return occupancy.limiter.empty() ? words : words + ", " + occupancy.limiter;
}

Figure occupancy_figure(const SweepResult& sweep) {
    HeatMap map = grid_of(sweep, "occupancy", "%");
    size_t highest = sweep.cells.size();
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const Occupancy* const occupancy = occupancy_of(sweep.cells[i], variant_of(sweep));
        if (!occupancy) {
            if (map.texts[i].empty()) map.texts[i] = reason_not_compiled(sweep.cells[i], variant_of(sweep));
            continue;
        }
        map.values[i] = 100 * *occupancy->theoretical;
        map.texts[i] = words_of(*occupancy);
        if (highest == sweep.cells.size() || map.values[i] > map.values[highest]) highest = i;
    }
    frame(map, highest, "highest");
    const std::string& arch = sweep.sweep.base.arch;
    std::string caption = fmt::format(
        "Theoretical, of the forward kernel{}, with what limits it. The highest, {:.0f} % at {}, need not be "
        "the fastest: larger tiles reuse more.",
        arch.empty() ? "" : " on " + arch, map.values[highest], name_of_cell(sweep.cells[highest]));
    caption += words_of_refused(sweep, map);
    return figure_of(sweep, "occupancy_by_tiles", "Occupancy", std::move(caption), std::move(map));
}

}  // namespace

std::vector<Figure> tile_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {time_figure(sweep)};
    for (const SweepCell& cell : sweep.cells)
        if (occupancy_of(cell, variant_of(sweep))) {
            figures.push_back(occupancy_figure(sweep));
            break;
        }
    return figures;
}

}  // namespace sawtooth::attention

#include "kernels/figures/sweep_maps.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/sweep_cells.h"
#include "kernels/figures/sweep_figures.h"

namespace sawtooth {
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

Axis named_axis(const SweepAxis& swept, const Family& family) {
    Axis axis{.label = swept.parameter, .unit = family.parameter(swept.parameter)->unit};
    for (const Value& value : swept.values) axis.categories.push_back(to_text(value));
    return axis;
}

// Removes the values of the axes from a reason: "BLOCK_M = 256, …: needs …".
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
    for (size_t i = 0; i < sweep.cells.size(); ++i)
        map.texts[i] = without_values(reason_refused(sweep.cells[i], variant_of(sweep)));
    return map;
}

// "64 x 128"
std::string name_of_cell(const SweepCell& cell) {
    return to_text(cell.values[0]) + " x " + to_text(cell.values[1]);
}

// Returns why the cell has no kernel for the chip that it was also compiled for; "" if it has one.
std::string reason_not_compiled(const SweepCell& cell, const std::string& variant) {
    if (!cell.result) return "";
    for (const std::string& note : cell.result->notes)
        if (note.starts_with(variant + " skipped for ")) return without_values(without_values(note));
    return "";
}

// " 5 of 25 are refused, the first at 128 x 256: needs …", for cells without a value but with a reason.
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
    return " " + std::to_string(count) + " of " + std::to_string(map.values.size()) +
           " are refused, the first at " + name_of_cell(sweep.cells[first]) + ": " + map.texts[first] + ".";
}

// Returns the cell whose value comes before those of all others; the number of cells if none has a value.
template <class Before>
size_t first_of(const HeatMap& map, Before before) {
    size_t best = map.values.size();
    for (size_t i = 0; i < map.values.size(); ++i)
        if (!std::isnan(map.values[i]) &&
            (best == map.values.size() || before(map.values[i], map.values[best])))
            best = i;
    return best;
}

void frame(HeatMap& map, size_t cell, std::string label) {
    const auto at = static_cast<int64_t>(cell);
    map.framed.push_back({at / map.columns, at % map.columns, std::move(label), {Ink::Role::highlight}});
}

Figure figure_of(const SweepResult& sweep, const Family& family, std::string id, const std::string& what,
                 std::string caption, HeatMap map) {
    const SweepAxis &rows = sweep.sweep.axes[0], &columns = sweep.sweep.axes[1];
    Figure figure =
        new_figure(std::move(id), Place::views,
                   what + " by " + rows.parameter + " and " + columns.parameter + ": " + variant_of(sweep),
                   std::move(caption), named_axis(columns, family), named_axis(rows, family));
    if (sweep.cells.empty())
        figure.missing = "Cells appear as the sweep runs.";
    else
        figure.marks.push_back(std::move(map));
    return figure;
}

// The occupancy of a launch on the GPU that ran it, or on the chip that it was also compiled for.
const Occupancy* occupancy_of(const SweepCell& cell, const std::string& name, const std::string& of_launch) {
    const VariantResult* const variant = ran_in(cell, name);
    if (!variant) return nullptr;
    for (const LaunchRecord& launch : variant->launches)
        if (launch.info->name == of_launch && launch.occupancy.theoretical) return &launch.occupancy;
    for (const CompiledLaunch& launch : variant->compiled)
        if (launch.launch == of_launch && launch.occupancy.theoretical) return &launch.occupancy;
    return nullptr;
}

// The unit in which all times of a map are written, with three digits, so that cells can be compared.
struct MapUnit {
    std::string name = "us";
    double microseconds = 1;

    explicit MapUnit(double shortest) {
        if (shortest >= 999.5) *this = MapUnit("ms", 1e3);
        if (shortest >= 999.5e3) *this = MapUnit("s", 1e6);
    }
    MapUnit(std::string unit, double length) : name(std::move(unit)), microseconds(length) {}
    std::string words(double us) const {
        const double value = us / microseconds;
        return (value < 999.5 ? rounded(value, 3) : with_thousands(std::llround(value))) + " " + name;
    }
};

std::string percent(double share) { return std::to_string(std::lrint(100 * share)) + " %"; }

// "25 %, registers"
std::string words_of(const Occupancy& occupancy) {
    std::string words = percent(*occupancy.theoretical);
    if (occupancy.achieved) words += ", achieved " + percent(*occupancy.achieved);
    return occupancy.limiter.empty() ? words : words + ", " + occupancy.limiter;
}

}  // namespace

Figure time_map(const SweepResult& sweep, const Family& family, std::string id) {
    HeatMap map = grid_of(sweep, "time", "us");
    map.logarithmic = true;
    map.unstable.assign(sweep.sweep.cells(), "");
    std::vector<size_t> cells;  // cells with a time, and the times
    std::vector<const TimeStatistics*> times;
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const VariantResult* const variant = ran_in(sweep.cells[i], variant_of(sweep));
        if (!variant || !variant->time) continue;
        const std::string wrong = wrong_badge(*variant);
        map.texts[i] = wrong;
        if (!wrong.empty()) continue;  // a coloured cell would invite a choice
        map.values[i] = variant->time->median;
        map.unstable[i] = unstable_badge(*variant->time);
        cells.push_back(i);
        times.push_back(&*variant->time);
    }
    const size_t least = first_of(map, std::less<>());
    const MapUnit unit(least < map.values.size() ? map.values[least] : 0);
    for (const size_t cell : cells) map.texts[cell] = unit.words(map.values[cell]);
    if (!cells.empty()) map.best = map.values[least];
    std::string caption = progress_words(sweep);
    const std::vector<size_t> fastest = fastest_cells(sweep.sweep, times);
    if (cells.size() > 1 && !fastest.empty() && sweep.complete && has_best(sweep.sweep, family)) {
        const size_t best = cells[fastest.front()], slowest = first_of(map, std::greater<>());
        // Frames around most cells would say nothing.
        const bool is_decided = fastest.size() == 1, is_open = 2 * fastest.size() > cells.size();
        for (const size_t cell : is_open ? std::vector<size_t>{fastest.front()} : fastest)
            frame(map, cells[cell], is_decided ? "fastest" : is_open ? "least" : "may be fastest");
        caption = (is_decided ? "Fastest: " : "Least: ") + name_of_cell(sweep.cells[best]) + ", " +
                  time_words(*times[fastest.front()]);
        if (fastest.size() == cells.size())
            caption += ", but " + count_words(std::ssize(times[fastest.front()]->samples), "repeat") +
                       " cannot tell that any other cell is slower";
        else if (!is_decided)
            caption += "; " + std::to_string(fastest.size() - 1) + " of " + std::to_string(cells.size() - 1) +
                       " other cells may be as fast";
        const Comparison longest =
            compare_apart(*times[fastest.front()], *ran_in(sweep.cells[slowest], variant_of(sweep))->time);
        if (longest.pace == Pace::faster)
            caption += "; " + ratio_words(longest) + " faster than " + name_of_cell(sweep.cells[slowest]);
        caption += ".";
    }
    caption += (caption.empty() ? "" : " ") + std::string("Colours: time over the shortest.");
    caption += words_of_refused(sweep, map);
    return figure_of(sweep, family, std::move(id), "Time (" + unit.name + ")", std::move(caption),
                     std::move(map));
}

std::optional<Figure> occupancy_map(const SweepResult& sweep, const Family& family, std::string id,
                                    const std::string& launch, const std::string& because) {
    HeatMap map = grid_of(sweep, "occupancy", "%");
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const Occupancy* const occupancy = occupancy_of(sweep.cells[i], variant_of(sweep), launch);
        if (!occupancy) {
            if (map.texts[i].empty()) map.texts[i] = reason_not_compiled(sweep.cells[i], variant_of(sweep));
            continue;
        }
        map.values[i] = 100 * *occupancy->theoretical;
        map.texts[i] = words_of(*occupancy);
    }
    const size_t highest = first_of(map, std::greater<>());
    if (highest == map.values.size()) return {};
    frame(map, highest, "highest");
    const std::string& arch = sweep.sweep.base.arch;
    std::string caption = "Theoretical, of the launch " + launch + (arch.empty() ? "" : " on " + arch) +
                          ", with what limits it. The highest, " + percent(map.values[highest] / 100) +
                          " at " + name_of_cell(sweep.cells[highest]) +
                          ", need not be the fastest: " + because + ".";
    caption += words_of_refused(sweep, map);
    return figure_of(sweep, family, std::move(id), "Occupancy", std::move(caption), std::move(map));
}

}  // namespace sawtooth

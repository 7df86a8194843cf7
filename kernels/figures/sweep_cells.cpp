#include "kernels/figures/sweep_cells.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernels/core/table.h"

namespace sawtooth {
namespace {

// The repeats of a search: enough at the first visit to tell much slower cells at once, few at later visits.
constexpr int first_repeats = least_repeats_to_tell, later_repeats = 3;
constexpr size_t most_named = 4;  // most cells named in a sentence
constexpr size_t most_missing_named = 20;

double median_of(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const size_t middle = samples.size() / 2;
    return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

std::string joined(const std::vector<std::string>& words, const std::string& by) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : by) + word;
    return text;
}

// "chunk and C_G", "BLOCK_M x BLOCK_N"
std::string axes_words(const Sweep& sweep) {
    std::vector<std::string> axes;
    for (const SweepAxis& axis : sweep.axes) axes.push_back(joined(names_of(axis), " and "));
    return joined(axes, " x ");
}

// "64", "64 x 32"
std::string value_words(const std::vector<Value>& values) {
    std::vector<std::string> words;
    for (const Value& value : values) words.push_back(to_text(value));
    return joined(words, " x ");
}

// The neighbours of a cell on both axes, in order.
std::vector<size_t> neighbours_of(const Sweep& sweep, size_t cell) {
    std::vector<size_t> neighbours;
    size_t stride = sweep.cells();
    for (const SweepAxis& axis : sweep.axes) {
        stride /= axis.values.size();
        const size_t at = cell / stride % axis.values.size();
        if (at > 0) neighbours.push_back(cell - stride);
        if (at + 1 < axis.values.size()) neighbours.push_back(cell + stride);
    }
    return neighbours;
}

// Whether the cell ran on that chip; "" is any.
bool is_on(const SweepCell& cell, const std::string& device) {
    return device.empty() || (cell.result && cell.result->device == device);
}

// ", 2.4x faster than 32, same as 128": compares with neighbours that are not among those named or left out.
std::string neighbour_words(const SweepResult& sweep, const BestCells& best) {
    const TimeStatistics& time = *right_in(sweep.cells[best.cells.front()], best.variant)->time;
    std::string words;
    std::vector<std::string> same, open;
    for (const size_t cell : neighbours_of(sweep.sweep, best.cells.front())) {
        const auto is_in = [cell](const std::vector<size_t>& cells) {
            return std::find(cells.begin(), cells.end(), cell) != cells.end();
        };
        const VariantResult* const beside = right_in(sweep.cells[cell], best.variant);
        if (!beside || !is_on(sweep.cells[cell], best.device) || is_in(best.left_out) ||
            (best.cells.size() <= most_named && is_in(best.cells)))
            continue;
        const Comparison comparison = compare_cells(sweep.sweep, time, *beside->time);
        const std::string name = value_words(sweep.cells[cell].values);
        if (comparison.pace == Pace::faster)
            words += ", " + ratio_words(comparison) + " faster than " + name;
        else
            (comparison.pace == Pace::same ? same : open).push_back(name);
    }
    if (!same.empty()) words += ", same as " + either_of(same);
    // Of many cells that may be the fastest it was said before.
    if (!open.empty() && best.cells.size() <= most_named) words += ", cannot be told from " + either_of(open);
    return words;
}

}  // namespace

std::vector<std::string> names_of(const SweepAxis& axis) {
    std::vector<std::string> names = {axis.parameter};
    names.insert(names.end(), axis.also.begin(), axis.also.end());
    return names;
}

SweepResult unmeasured(Sweep sweep) {
    SweepResult result{std::move(sweep), {}, false};
    for (size_t i = 0; i < result.sweep.cells(); ++i)
        result.cells.push_back({result.sweep.cell(i), "", nullptr});
    return result;
}

size_t count_of_measured(const SweepResult& sweep) {
    return static_cast<size_t>(std::count_if(sweep.cells.begin(), sweep.cells.end(),
                                             [](const auto& cell) { return !is_missing(cell); }));
}

std::vector<PlaceColumn> place_columns(const SweepResult& sweep) {
    constexpr PlaceColumn all[] = {
        {"device", [](const Result& result) -> const std::string& { return result.device; }},
        {"host", [](const Result& result) -> const std::string& { return result.host; }},
        {"worker", [](const Result& result) -> const std::string& { return result.request.on; }}};
    std::vector<PlaceColumn> columns;
    for (const PlaceColumn& column : all) {
        std::set<std::string> texts;
        for (const SweepCell& cell : sweep.cells)
            if (cell.result) texts.insert(column.text(*cell.result));
        if (texts.size() > 1) columns.push_back(column);
    }
    return columns;
}

std::string missing_words(const SweepResult& sweep) {
    std::vector<std::string> names;
    for (size_t i = 0; i < sweep.sweep.cells(); ++i)
        if (i >= sweep.cells.size() || is_missing(sweep.cells[i]))
            names.push_back(cell_words(sweep.sweep, sweep.sweep.cell(i)));
    const size_t all = names.size();
    names.resize(std::min(all, most_missing_named));
    if (all > names.size()) names.push_back(std::to_string(all - names.size()) + " more");
    return joined(names, "; ");
}

std::string cell_words(const Sweep& sweep, const std::vector<Value>& values) {
    std::string words;
    for (size_t a = 0; a < values.size(); ++a)
        words += (a ? ", " : "") + joined(names_of(sweep.axes[a]), " and ") + " " + to_text(values[a]);
    return words;
}

const Parameter* swept_inputs(const Sweep& sweep, const Family& family) {
    for (const SweepAxis& axis : sweep.axes)
        for (const std::string& name : names_of(axis))
            if (const Parameter* const row = family.parameter(name);
                row && row->renews == Renews::inputs && row->group != Group::tiling)
                return row;
    return nullptr;
}

bool has_best(const Sweep& sweep, const Family& family) { return !swept_inputs(sweep, family); }

int repeats_of_visit(const Sweep& sweep, size_t visit) {
    if (!sweep.search) return sweep.base.repeats;
    return std::min(sweep.base.repeats, visit == 0 ? first_repeats : later_repeats);
}

std::vector<double> visits_of(const Sweep& sweep, const TimeStatistics& time) {
    std::vector<double> medians;
    auto begin = time.samples.begin();
    while (begin != time.samples.end()) {
        const int repeats = repeats_of_visit(sweep, medians.size());
        if (repeats < 1 || time.samples.end() - begin < repeats) break;
        medians.push_back(median_of({begin, begin + repeats}));
        begin += repeats;
    }
    return medians;
}

Comparison compare_cells(const Sweep& sweep, const TimeStatistics& first, const TimeStatistics& second) {
    const Comparison apart = compare_apart(first, second);
    if (!sweep.search || apart.pace != Pace::cannot_tell) return apart;
    TimeStatistics ones{.samples = visits_of(sweep, first)}, others{.samples = visits_of(sweep, second)};
    const size_t both = std::min(ones.samples.size(), others.samples.size());
    ones.samples.resize(both);
    others.samples.resize(both);
    return compare_in_turns(ones, others);
}

std::vector<size_t> fastest_cells(const Sweep& sweep, const std::vector<const TimeStatistics*>& times) {
    const auto visits = [&](size_t i) { return sweep.search ? visits_of(sweep, *times[i]).size() : 1; };
    const auto is_before = [&](size_t one, size_t other) {
        return visits(one) != visits(other) ? visits(one) > visits(other)
                                            : times[one]->median < times[other]->median;
    };
    std::vector<size_t> fastest;
    for (size_t i = 0; i < times.size(); ++i)
        if (fastest.empty() || is_before(i, fastest.front())) fastest = {i};
    for (size_t i = 0; i < times.size(); ++i)
        if (i != fastest.front() &&
            compare_cells(sweep, *times[fastest.front()], *times[i]).pace != Pace::faster)
            fastest.push_back(i);
    return fastest;
}

const VariantResult* right_in(const SweepCell& cell, const std::string& variant) {
    const VariantResult* const found = cell.result ? find(*cell.result, variant) : nullptr;
    return found && found->time && found->verdict() == Verdict::right ? found : nullptr;
}

BestCells best_cells(const SweepResult& sweep, const std::string& variant, const std::string& device) {
    BestCells best{variant, {}, {}, device};
    std::vector<size_t> right;
    std::vector<const TimeStatistics*> times;
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const VariantResult* const found = right_in(sweep.cells[i], variant);
        if (!found || !is_on(sweep.cells[i], device)) continue;
        right.push_back(i);
        times.push_back(&*found->time);
    }
    const std::vector<size_t> fastest = fastest_cells(sweep.sweep, times);
    const auto visits = [&](size_t i) { return visits_of(sweep.sweep, *times[i]).size(); };
    for (const size_t i : fastest)
        (sweep.sweep.search && visits(i) < visits(fastest.front()) ? best.left_out : best.cells)
            .push_back(right[i]);
    return best;
}

std::vector<BestCells> best_cells(const SweepResult& sweep) {
    struct Place {
        std::string variant;
        std::map<std::string, int> cells;  // by device
    };
    std::map<int, Place> places;  // by index of the variant
    std::set<std::string> devices;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        devices.insert(cell.result->device);
        for (const VariantResult& variant : cell.result->variants) {
            if (!right_in(cell, variant.name)) continue;
            places[variant.index].variant = variant.name;
            ++places[variant.index].cells[cell.result->device];
        }
    }
    std::vector<BestCells> all;
    const bool has_one_cell = sweep.sweep.cells() == 1;
    for (const auto& [index, place] : places)
        for (const auto& [device, cells] : place.cells)
            if (cells > 1 || has_one_cell)
                all.push_back(best_cells(sweep, place.variant, devices.size() < 2 ? "" : device));
    return all;
}

std::string fastest_words(const SweepResult& sweep, const BestCells& best) {
    const auto time = [&](size_t cell) -> const TimeStatistics& {
        return *right_in(sweep.cells[cell], best.variant)->time;
    };
    const size_t first = best.cells.front();
    std::vector<std::string> names = {axes_words(sweep.sweep) + " " + value_words(sweep.cells[first].values)};
    if (best.cells.size() == 1) return names.front();
    bool are_same = true;
    for (const size_t cell : best.cells) {
        if (cell == first) continue;
        names.push_back(value_words(sweep.cells[cell].values));
        are_same = are_same && compare_cells(sweep.sweep, time(first), time(cell)).pace == Pace::same;
    }
    const std::string count = std::to_string(names.size() - 1);
    return (names.size() > most_named ? names.front() + " or one of " + count + " others"
                                      : either_of(names)) +
           (are_same ? " (they take the same time)" : " (which of them cannot be told)");
}

std::string best_words(const SweepResult& sweep, const BestCells& best) {
    const TimeStatistics& time = *right_in(sweep.cells[best.cells.front()], best.variant)->time;
    const size_t left_out = best.left_out.size();
    const std::string unstable = unstable_badge(time);
    return best.variant + (best.device.empty() ? "" : " on " + best.device) + ": " +
           fastest_words(sweep, best) + ", " + short_time(time.median) + " (quartiles " +
           short_time(time.q1) + " to " + short_time(time.q3) + (unstable.empty() ? "" : ", " + unstable) +
           ")" + neighbour_words(sweep, best) +
           (left_out == 0 ? ""
            : left_out == 1
                ? "; 1 more with a longer median was not measured again, so it is not ruled out"
                : "; " + std::to_string(left_out) +
                      " more with longer medians were not measured again, so they are not ruled out");
}

}  // namespace sawtooth

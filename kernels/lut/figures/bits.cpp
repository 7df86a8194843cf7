// The differences of the pairs of every detector, the bits that they give, and how near they are to flipping.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/lut/figures/common.h"

namespace sawtooth::lut {
namespace {

// A pair of inputs whose difference depends on the dragged input.
struct Moved {
    int64_t detector = 0, r = 0;
    double above = 0;  // the present difference minus eps
    int sign = 1;      // the sign of the input in the difference

    bool was_set(double moved_by) const { return above - sign * moved_by > 0; }
    bool has_flipped(double moved_by) const { return was_set(moved_by) != (above > 0); }
    // How far from here the input must move to flip the bit.
    double flips_at() const { return -above / sign; }
};

// All detectors of the drawn item.
struct Item {
    Item(const Result& result, const Drawn& drawn) {
        const Detectors all(result);
        for (int64_t t = 0; t < drawn.detectors; ++t) {
            detectors.push_back(all.check(drawn.item, t));
            for (int64_t r = 0; r < drawn.anchors; ++r) {
                const Detectors::Pair pair = all.pair(t, r);
                if (pair.is_skipped()) continue;
                const double difference = detectors.back().deltas[static_cast<size_t>(r)];
                equal += difference == 0 && pair.first != pair.second;
                if (const int sign = pair.sign_of(drawn.dragged_input); sign != 0)
                    moved.push_back({t, r, difference - double{drawn.eps}, sign});
            }
        }
    }
    // The detector with the smallest difference other than 0 (an input compared with itself gives 0); -1 if
    // there is none.
    int64_t weakest() const {
        int64_t found = -1;
        for (int64_t t = 0; t < std::ssize(detectors); ++t)
            if (at(t).min_delta != 0 &&
                (found < 0 || std::abs(at(t).min_delta) < std::abs(at(found).min_delta)))
                found = t;
        return found;
    }
    std::vector<Moved> flipped(double by) const {
        std::vector<Moved> flips;
        std::copy_if(moved.begin(), moved.end(), std::back_inserter(flips),
                     [&](const Moved& each) { return each.has_flipped(by); });
        return flips;
    }
    const Checked& at(int64_t detector) const { return detectors[static_cast<size_t>(detector)]; }

    std::vector<Checked> detectors;
    std::vector<Moved> moved;
    int64_t equal = 0;  // pairs of two inputs that are equal
};

// "3, 7 and 20", "3, 7, 20 and 5 more"
std::string words_of_detectors(const std::vector<Moved>& flips) {
    constexpr size_t most = 6;
    std::vector<int64_t> names;
    for (const Moved& each : flips)
        if (names.empty() || names.back() != each.detector) names.push_back(each.detector);
    const bool all = names.size() <= most;
    std::string words = names.size() == 1 ? "detector " : "detectors ";
    for (size_t i = 0; i < std::min(names.size(), most); ++i)
        words += (i == 0 ? "" : all && i + 1 == names.size() ? " and " : ", ") + std::to_string(names[i]);
    return all ? words : words + fmt::format(" and {} more", names.size() - most);
}

std::string words_of_dragging(const Drawn& drawn, const Item& item) {
    std::string words =
        fmt::format("Input {} is in {}", drawn.dragged_input, count_words(std::ssize(item.moved), "pair"));
    if (drawn.dragged_by != 0) {
        const auto flips = item.flipped(drawn.dragged_by);
        return words + fmt::format("; moved by {:+.3g} it flips {}. ", drawn.dragged_by,
                                   flips.empty()
                                       ? "no bit"
                                       : fmt::format("{}, of {}", count_words(std::ssize(flips), "bit"),
                                                     words_of_detectors(flips)));
    }
    if (item.moved.empty()) return words + ": moving it flips no bit. ";
    const Moved& nearest = *std::min_element(
        item.moved.begin(), item.moved.end(),
        [](const Moved& one, const Moved& other) { return std::abs(one.above) < std::abs(other.above); });
    if (nearest.above == 0)
        return words + fmt::format(": the smallest move {} flips the first bit, of detector {}. ",
                                   nearest.sign > 0 ? "up" : "down", nearest.detector);
    return words + fmt::format(": dragged_by {:+.2g} flips the first bit, of detector {}. ",
                               nearest.flips_at(), nearest.detector);
}

std::string words_of_weakest(const Drawn& drawn, const Item& item) {
    const int64_t weakest = item.weakest();
    std::string words;
    if (item.equal > 0 && drawn.eps == 0)
        words = item.equal == 1
                    ? "1 pair of inputs is equal: the smallest move can flip its bit. "
                    : fmt::format("{} pairs of inputs are equal: the smallest move can flip their bits. ",
                                  item.equal);
    if (weakest < 0)
        return words.empty() ? "No bit is close to flipping: all pairs are skipped or equal. " : words;
    const Checked& detector = item.at(weakest);
    const char* const what = drawn.eps > 0    ? "Smallest difference other than 0"
                             : !words.empty() ? "Closest of the others"
                                              : "Closest to flipping";
    return words + fmt::format("{}: bit {} of detector {} (difference {:.2g}). ", what, detector.weakest,
                               weakest, detector.min_delta);
}

Axis detector_axis(const Drawn& drawn) {
    const Range page = drawn.page();
    return {.label = "detector",
            .minimum = static_cast<double>(page.first) - 0.5,
            .maximum = static_cast<double>(page.last) - 0.5,
            .shared = "detector"};
}

HeatMap map_of_differences(const Drawn& drawn, const Item& item) {
    const Range page = drawn.page();
    HeatMap map = heat_map("difference", drawn.anchors, page.count(), 0, page.first);
    map.colours = HeatMap::Colours::diverging;
    for (int64_t r = 0; r < drawn.anchors; ++r)
        for (int64_t t = page.first; t < page.last; ++t) {
            const double delta = item.at(t).deltas[static_cast<size_t>(r)];
            map.values.push_back(delta);
            map.texts.push_back(std::isnan(delta) ? "skipped" : delta > double{drawn.eps} ? "1" : "0");
        }
    for (int64_t t = page.first; t < page.last; ++t)
        if (item.at(t).weakest >= 0)
            map.framed.push_back({item.at(t).weakest, t - page.first, "weakest pair", {Ink::Role::accent}});
    for (const Moved& each : item.flipped(drawn.dragged_by))
        if (each.detector >= page.first && each.detector < page.last)
            map.framed.push_back(
                {each.r, each.detector - page.first, "flipped by dragging", {Ink::Role::limit}});
    return map;
}

Figure bits_figure(const Drawn& drawn, const Item& item) {
    Figure figure =
        new_figure("bits", Place::views, "Bits of the detectors",
                   words_of_dragging(drawn, item) + words_of_weakest(drawn, item) +
                       (drawn.eps > 0 ? "" : "Pale cells are close to flipping. ") + drawn.words_of_page(),
                   detector_axis(drawn), {.label = "bit"});
    figure.chosen_by = {"drawn_batch", "dragged_input", "dragged_by"};
    if (drawn.page().count() < drawn.detectors) figure.chosen_by.push_back("drawn_detector");
    for (int64_t r = 0; r < drawn.anchors; ++r) figure.y.categories.push_back(std::to_string(r));
    figure.marks.push_back(map_of_differences(drawn, item));
    return figure;
}

// The margin that a detector had before the input was dragged.
double undragged_margin(const Item& item, int64_t detector, double dragged_by) {
    Checked before = item.at(detector);
    for (const Moved& each : item.moved)
        if (each.detector == detector) before.deltas[static_cast<size_t>(each.r)] -= each.sign * dragged_by;
    double least = gap;
    for (const double delta : before.deltas) least = std::fmin(least, std::abs(delta));
    return least;
}

std::string words_of_margins(const Item& item) {
    std::vector<double> margins;
    for (const Checked& each : item.detectors)
        if (each.weakest >= 0) margins.push_back(std::abs(each.min_delta));
    const auto zeros = std::count(margins.begin(), margins.end(), 0.0);
    std::sort(margins.begin(), margins.end());
    const int64_t weakest = item.weakest();
    return fmt::format(
        "Median margin {:.2g}; smallest{} {:.2g} (detector {}). {}", margins[margins.size() / 2],
        zeros == 0 ? "" : " above 0", std::abs(item.at(weakest).min_delta), weakest,
        zeros == 0 ? "" : fmt::format("{} {} 0 (equal inputs). ", zeros, zeros == 1 ? "is" : "are"));
}

// A line with a level for every detector, as wide as its column.
struct Levels {
    Line line;
    Band band;

    explicit Levels(std::string label, Ink ink)
        : line{std::move(label), ink, {}, {}}, band{"", ink, {}, {}, {}} {}
    void add(int64_t detector, double level) {
        const auto middle = static_cast<double>(detector);
        for (std::vector<double>* const x : {&line.x, &band.x})
            x->insert(x->end(), {middle - 0.4, middle + 0.4, middle + 0.4});
        for (std::vector<double>* const y : {&line.y, &band.high}) y->insert(y->end(), {level, level, gap});
    }
    // Fills the area below the levels.
    void lay_floor(double floor) {
        for (const double level : band.high) band.low.push_back(std::isnan(level) ? gap : floor);
    }
};

Figure margins_figure(const Drawn& drawn, const Item& item) {
    Figure figure =
        new_figure("margins", Place::views, fmt::format("Margins of the detectors, item {}", drawn.item), "",
                   detector_axis(drawn), {.label = "|min_delta|", .scale = Scale::log10});
    figure.chosen_by = {"drawn_batch"};
    if (item.weakest() < 0) {
        leave_out(figure, "All pairs are skipped or equal: choose another drawn_batch.");
        return figure;
    }
    const Range page = drawn.page();
    Levels now("margin", {Ink::Role::accent}), before("before dragging", {Ink::Role::quiet});
    double least = std::abs(item.at(item.weakest()).min_delta);
    for (int64_t t = page.first; t < page.last; ++t) {
        const double margin = std::abs(item.at(t).min_delta);
        const double earlier = undragged_margin(item, t, drawn.dragged_by);
        if (margin > 0) now.add(t, margin);  // 0 has no place on a logarithmic axis
        if (earlier > 0 && earlier != margin) before.add(t, earlier), least = std::min(least, earlier);
    }
    figure.y.minimum = std::pow(10, std::floor(std::log10(least)));
    now.lay_floor(*figure.y.minimum);
    figure.caption = words_of_margins(item) + drawn.words_of_page();
    if (!now.line.x.empty()) figure.marks = {std::move(now.band), std::move(now.line)};
    if (!before.line.x.empty()) figure.marks.push_back(std::move(before.line));
    if (figure.marks.empty()) leave_out(figure, "All margins are 0: choose another drawn_batch.");
    return figure;
}

}  // namespace

std::vector<Figure> bit_figures(const Result& result) {
    const Drawn drawn(result.parameters);
    const Item item(result, drawn);
    return {bits_figure(drawn, item), margins_figure(drawn, item)};
}

}  // namespace sawtooth::lut

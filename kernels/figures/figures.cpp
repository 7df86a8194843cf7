#include "kernels/figures/figures.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <optional>

#include "kernels/core/dimensions.h"
#include "kernels/core/integers.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {

double copy_rate(const Result& result) {
    if (result.copy) return result.copy->gigabytes_per_second();
    return result.ceilings ? result.ceilings->copy_bytes_per_second / 1e9 : 0;
}

Ink ink_of(const VariantResult& variant) { return {Ink::Role::variant, variant.index}; }

Figure new_figure(std::string id, Place place, std::string title, std::string caption, Axis x, Axis y) {
    return {.id = std::move(id),
            .place = place,
            .title = std::move(title),
            .caption = std::move(caption),
            .missing = "",
            .x = std::move(x),
            .y = std::move(y),
            .marks = {}};
}

void leave_out(Figure& figure, const std::string& reason) {
    figure.marks.clear();
    figure.caption.clear();
    figure.missing = figure.title + ". " + reason;
}

void add_beside_data(Figure& figure, Mark mark) {
    if (!figure.marks.empty()) figure.marks.push_back(std::move(mark));
}

void add_steps(Figure& figure, int64_t count, int64_t step, const std::string& label, const View& view) {
    constexpr int64_t most = 32;  // more would hide the data of a narrow plot
    const auto length = static_cast<double>(step), end = static_cast<double>(count - 1);
    const View::Range range = view.range_of(figure.x.shared, {0, end});
    const auto first = static_cast<int64_t>(std::max(std::ceil(range.low / length), 1.0));
    const auto last = static_cast<int64_t>(std::min(range.high, end) / length);
    if (last - first >= most) return;
    for (int64_t i = first; i <= last; ++i)
        add_beside_data(figure,
                        Rule{Rule::Across::x, static_cast<double>(i) * length, label, {Ink::Role::quiet}});
}

void leave_out_without_outputs(Figure& figure, const Result& result) {
    const bool ran = std::any_of(result.variants.begin(), result.variants.end(),
                                 [](const VariantResult& variant) { return variant.ran(); });
    if (!ran) leave_out(figure, "Needs a variant that ran: tick one in Parameters.");
}

void tell_errors(Figure& figure, const Result& result, const Array& reference) {
    const std::string words = words_of_errors(result, reference.name);
    if (words.empty()) return;
    figure.caption = reference.rows ? words + " " + figure.caption : words;
}

Bar time_bar(const VariantResult& variant) {
    const TimeStatistics& time = *variant.time;
    return {.ink = ink_of(variant),
            .segments = {{"", time.median}},
            .low = time.q1,
            .high = time.q3,
            .text = time_words(time),
            .badge = wrong_badge(variant)};
}

std::vector<double> lengths_of(const Bars& bars) {
    std::vector<double> lengths;
    for (const Bar& bar : bars.bars) lengths.push_back(length_of(bar));
    return lengths;
}

void break_long_bars(Figure& figure, Bars& bars, std::vector<double> lengths) {
    constexpr double most_in_sight = 20;  // times the longest of the shorter half
    if (lengths.empty()) return;
    const auto middle = lengths.begin() + (std::ssize(lengths) - 1) / 2;
    std::nth_element(lengths.begin(), middle, lengths.end());
    const double most = most_in_sight * *middle;
    if (most <= 0 || std::ranges::all_of(bars.bars, [&](const Bar& bar) { return length_of(bar) <= most; }))
        return;
    bars.most = most;
    figure.x.maximum = most;
}

Line line_of(std::string label, Ink ink, Series points) {
    return {std::move(label), ink, std::move(points.x), std::move(points.y)};
}

HeatMap heat_map(std::string label, int64_t rows, int64_t columns, int64_t first_row, int64_t first_column) {
    HeatMap map;
    map.label = std::move(label);
    map.rows = rows;
    map.columns = columns;
    map.x_low = static_cast<double>(first_column) - 0.5;
    map.x_high = static_cast<double>(first_column + columns) - 0.5;
    map.y_low = static_cast<double>(first_row) - 0.5;
    map.y_high = static_cast<double>(first_row + rows) - 0.5;
    return map;
}

Axis place_axis(const std::string& place, int64_t length) {
    return {.label = place,
            .minimum = 0,
            .maximum = static_cast<double>(length - 1),
            .whole = true,
            .shared = place};
}

Axis time_axis() { return {.label = "time", .unit = "us", .scale = Scale::log10}; }
Axis absolute_error_axis() { return {.label = "absolute error", .scale = Scale::log10}; }
Axis relative_error_axis() { return {.label = "rel L2 error", .scale = Scale::log10}; }

std::optional<DrawnLine> LineChooser::line(const Array& array, const Parameters& parameters) const {
    const ArraySpec* const spec = family.array(array.name);
    if (!spec) return {};
    DrawnLine line{.place = place};
    bool has_sequence = false;
    const Shape shape = array.whole_shape();
    int64_t stride = count_of(shape);
    const auto names = dimensions_of(*spec, shape);
    for (size_t d = 0; d < names.size(); ++d) {
        const int64_t extent = shape[d];
        stride /= extent;
        if (counts_sequence(family, names[d])) {
            has_sequence = true;
            line.step = stride;
            line.length = extent;
        } else if (const auto chosen = chosen_by.find(names[d]); chosen != chosen_by.end()) {
            const int64_t index = std::min(parameters.integer(chosen->second), extent - 1);
            line.first += index * stride;
            line.words += line.words.empty() ? "" : ", ";
            line.words += family.parameter(chosen->second)->unit + " " + std::to_string(index);
            line.chosen_by.push_back(chosen->second);
        }
    }
    return has_sequence ? std::optional(std::move(line)) : std::nullopt;
}

namespace {

// Calls each(position, value), in order, for the positions of the line that the reference has.
template <class Each>
void each_known(const Array& reference, const DrawnLine& line, Each&& each) {
    if (!reference.rows) {
        for (int64_t at = 0; at < line.length; ++at) each(at, reference.value(line.index(at)));
        return;
    }
    const std::vector<int64_t>& places = reference.rows->places;
    const int64_t width = places.empty() ? 0 : reference.count() / reference.shape[0];
    for (size_t row = 0; row < places.size(); ++row) {
        const int64_t first = places[row] * width, here = static_cast<int64_t>(row) * width;
        int64_t at = std::max<int64_t>(0, ceil_divide(first - line.first, line.step));
        for (; at < line.length && line.index(at) < first + width; ++at)
            each(at, reference.value(here + line.index(at) - first));
    }
}

// " The reference has 8 of 8,192 positions here."; "" if it has all.
std::string known_words(const Array& reference, const DrawnLine& line) {
    if (!reference.rows) return "";
    int64_t known = 0;
    each_known(reference, line, [&](int64_t, std::complex<double>) { ++known; });
    return " The reference has " + with_thousands(known) + " of " + with_thousands(line.length) +
           " positions here.";
}
// " The reference has 280 of 262,144 rows."; "" if it has all.
std::string known_words(const Array& reference) {
    if (!reference.rows) return "";
    return " The reference has " + with_thousands(reference.shape[0]) + " of " +
           with_thousands(count_of(reference.rows->extents)) + " rows.";
}

// drawn_part(value) is the number that is drawn for a value. Chosen rows are drawn as single points.
template <class DrawnPart>
Line reference_line(const Array& reference, const DrawnLine& line, const View& view, DrawnPart drawn_part) {
    const std::string label = "float64 reference";
    if (!reference.rows)
        return line_of(label, {Ink::Role::reference}, reduce(line.length, view, line.place, [&](int64_t at) {
                           return drawn_part(reference.value(line.index(at)));
                       }));
    Line points = line_of(label, {Ink::Role::reference}, {});
    points.markers = true;
    each_known(reference, line, [&](int64_t at, std::complex<double> value) {
        points.x.insert(points.x.end(), 2, static_cast<double>(at));
        points.y.insert(points.y.end(), {drawn_part(value), gap});
    });
    return points;
}

// Where the reference is known, output and reference agree within 10^power of the largest value; returns the
// power, at least -6. Absent if they differ by more than 10^-3, which is visible.
std::optional<int> power_of_agreement(const Array& output, const Array& reference, const DrawnLine& line) {
    constexpr int least = -6, most = -3;
    double largest = 0, furthest = 0;
    bool is_known = !reference.rows, is_finite = true;
    each_known(reference, line, [&](int64_t at, std::complex<double> truth) {
        const double distance = std::abs(output.value(line.index(at)) - truth);
        is_known = true;
        is_finite = is_finite && std::isfinite(distance);
        largest = std::max(largest, std::abs(truth));
        furthest = std::max(furthest, distance);
    });
    if (!is_known || !is_finite) return {};
    for (int power = least; power <= most; ++power)
        if (furthest <= std::pow(10.0, power) * largest) return power;
    return {};
}

// Whether the two look the same, so that the later one would hide the earlier one.
bool look_alike(const Array& earlier, const Array& later, const DrawnLine& line) {
    double largest = 0, furthest = 0;
    for (int64_t at = 0; at < line.length; ++at) {
        const std::complex<double> value = earlier.value(line.index(at));
        const double distance = std::abs(later.value(line.index(at)) - value);
        if (!std::isfinite(distance)) return false;
        largest = std::max(largest, std::abs(value));
        furthest = std::max(furthest, distance);
    }
    return furthest <= 1e-3 * largest;
}

}  // namespace

Figure output_figure(const Result& result, const View& view, const Array& reference, const DrawnLine& line,
                     Part part) {
    const bool imaginary = part == Part::imaginary;
    const auto part_of = [&](std::complex<double> value) { return imaginary ? value.imag() : value.real(); };
    const auto points = [&](const Array& array) {
        return reduce(line.length, view, line.place,
                      [&](int64_t at) { return part_of(array.value(line.index(at))); });
    };
    const bool complex = reference.dtype == Dtype::complex128;
    const std::string what = imaginary ? "Imaginary part of " : complex ? "Real part of " : "";
    Figure figure = new_figure("output-" + reference.name + (imaginary ? "-imaginary" : ""), Place::outputs,
                               line.title(what + reference.name),
                               "Every variant over the float64 reference; those that agree are one line." +
                                   known_words(reference, line),
                               place_axis(line.place, line.length), {.label = reference.name});
    figure.chosen_by = line.chosen_by;
    figure.marks.push_back(reference_line(reference, line, view, part_of));
    int agreeing = 0, power = INT_MIN;
    Line agreed;
    std::vector<const Array*> apart;
    for (const VariantResult& variant : result.variants) {
        const Array* const output = find(variant.outputs, reference.name);
        if (!output) continue;
        Line drawn = line_of(variant.name, ink_of(variant), points(*output));
        const auto agreement = power_of_agreement(*output, reference, line);
        if (!agreement || variant.verdict() == Verdict::wrong) {  // a wrong output gets its own line
            drawn.ink.dashed = std::any_of(apart.begin(), apart.end(), [&](const Array* earlier) {
                return look_alike(*earlier, *output, line);
            });
            apart.push_back(output);
            figure.marks.push_back(std::move(drawn));
            continue;
        }
        agreed = std::move(drawn);
        power = std::max(power, *agreement);
        ++agreeing;
    }
    if (agreeing < 2) {
        if (agreeing == 1) figure.marks.push_back(std::move(agreed));
        return figure;
    }
    agreed.label = std::to_string(agreeing) + " agree (rel. 1e" + std::to_string(power) + ")";
    agreed.ink = {Ink::Role::highlight};
    figure.marks.insert(figure.marks.begin() + 1, std::move(agreed));
    return figure;
}

namespace {

constexpr int64_t most_told_apart = 256;

void add_envelope(Figure& figure, const std::string& label, Ink ink, const Envelope& errors) {
    if (errors.low != errors.high) figure.marks.push_back(Band{"", ink, errors.x, errors.low, errors.high});
    figure.marks.push_back(Line{label, ink, errors.x, errors.high});
}

}  // namespace

void add_errors(Figure& figure, const std::string& label, Ink ink, int64_t count, const View& view,
                const std::function<double(int64_t)>& error_at) {
    add_envelope(figure, label, ink, envelope(count, view, figure.x.shared, most_told_apart, error_at));
}

void add_largest_errors(Figure& figure, const std::string& label, Ink ink, const OutputError& error,
                        const View& view) {
    const std::vector<float>& by_position = error.by_position;
    if (by_position.empty()) return;
    const Envelope errors =
        envelope(static_cast<int64_t>(by_position.size()), view, figure.x.shared, most_told_apart,
                 [&](int64_t at) { return by_position[static_cast<size_t>(at)]; });
    Envelope known;  // positions without a reference make no gaps
    for (size_t i = 0; i < errors.x.size(); ++i) {
        if (std::isnan(errors.high[i])) continue;
        known.x.push_back(errors.x[i]);
        known.low.push_back(errors.low[i]);
        known.high.push_back(errors.high[i]);
    }
    add_envelope(figure, label, ink, known);
}

void leave_out_without_errors(Figure& figure) {
    if (figure.marks.empty()) leave_out(figure, "Errors by position were not kept for these settings.");
}

void lay_floor(Figure& figure) {
    constexpr size_t few = 32;  // of the errors of a line, one in this many is below the floor
    double floor = std::numeric_limits<double>::infinity();
    for (const Mark& mark : figure.marks) {
        const Line* const line = std::get_if<Line>(&mark);
        if (!line) continue;
        std::vector<double> errors;
        std::copy_if(line->y.begin(), line->y.end(), std::back_inserter(errors),
                     [](double error) { return error > 0; });
        if (errors.empty()) continue;
        const auto low = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / few);
        std::nth_element(errors.begin(), low, errors.end());
        floor = std::min(floor, *low);
    }
    if (std::isfinite(floor)) figure.y.minimum = floor / 2;
}

namespace {

void add_drawn_errors(Figure& figure, const VariantResult& variant, const Array& output,
                      const Array& reference, const DrawnLine& line, const View& view) {
    const auto error_at = [&](int64_t at, std::complex<double> truth) {
        return std::abs(output.value(line.index(at)) - truth);
    };
    if (!reference.rows)
        return add_errors(figure, variant.name, ink_of(variant), line.length, view,
                          [&](int64_t at) { return error_at(at, reference.value(line.index(at))); });
    Line points = line_of(variant.name, ink_of(variant), {});
    points.markers = true;
    each_known(reference, line, [&](int64_t at, std::complex<double> truth) {
        points.x.push_back(static_cast<double>(at));
        points.y.push_back(error_at(at, truth));
    });
    figure.marks.push_back(std::move(points));
}

}  // namespace

Figure error_figure(const Result& result, const View& view, const Array& reference, const DrawnLine& line,
                    ErrorOf lines) {
    const bool drawn = lines == ErrorOf::drawn_line;
    const std::string what = "Error of " + reference.name;
    Figure figure = new_figure(
        "error-" + reference.name, Place::error, drawn ? line.title(what) : what + " by " + line.place,
        "Absolute error against the float64 reference. Zeros are drawn at the bottom edge." +
            (drawn ? known_words(reference, line) : known_words(reference)),
        place_axis(line.place, line.length), absolute_error_axis());
    if (drawn) figure.chosen_by = line.chosen_by;
    for (const VariantResult& variant : result.variants) {
        const Array* const output = drawn ? find(variant.outputs, reference.name) : nullptr;
        if (output) add_drawn_errors(figure, variant, *output, reference, line, view);
        for (const OutputError& error : variant.errors)
            if (!drawn && error.output == reference.name)
                add_largest_errors(figure, variant.name, ink_of(variant), error, view);
    }
    if (!drawn) leave_out_without_errors(figure);
    lay_floor(figure);
    return figure;
}

namespace {

// One segment per kind of launch, in the order of their first start. The rest of the bar, which has exactly
// the length of the median, is gaps: recording a launch on a GPU lengthens the gap before it, not the launch.
std::vector<Bar::Segment> segments_of(const VariantResult& variant) {
    constexpr size_t most = 6;
    std::vector<Bar::Segment> segments;
    double total = 0;
    for (const LaunchRecord& launch : variant.launches) {
        total += launch.duration_us;
        const auto same = std::find_if(segments.begin(), segments.end(),
                                       [&](const Bar::Segment& s) { return s.label == launch.info->name; });
        if (same != segments.end())
            same->length += launch.duration_us;
        else if (segments.size() < most)
            segments.push_back({launch.info->name, launch.duration_us});
        else if (segments.back().label == "others")
            segments.back().length += launch.duration_us;
        else
            segments.push_back({"others", launch.duration_us});
    }
    if (segments.empty()) return {{variant.name, variant.time->median}};
    const double& last = variant.launches.back().start_us;
    const bool has_gaps = last + variant.launches.back().duration_us > total;
    // Of many launches only the first are recorded.
    const double recorded =
        static_cast<double>(variant.launches.size()) / static_cast<double>(variant.launch_count);
    const double all = total / recorded, median = variant.time->median;
    const bool fits = has_gaps && all < median;
    for (Bar::Segment& segment : segments) segment.length *= fits ? 1 / recorded : median / total;
    if (fits) segments.push_back({"between launches", median - all});
    return segments;
}

// "Unstable: the quartiles of a time differ by up to 3x; a thread of the run waited for a core in 7 of 45
// repeats. Close other programs or use fewer threads, and press F5. "
std::string stability_words(const Result& result) {
    double most = 0;
    size_t repeats = 0, disturbed = 0;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time) continue;
        if (!unstable_badge(*variant.time).empty())
            most = std::max(most, variant.time->q3 / variant.time->q1);
        repeats += variant.time->samples.size();
        disturbed += variant.time->disturbed.size();
    }
    if (most == 0) return "";
    std::string words =
        "Unstable: the quartiles of a time differ by up to " + rounded(most, most < 9.95 ? 2 : 3) + "x";
    if (disturbed > 0)
        words += "; " + disturbance_words(result.backend) + " in " + std::to_string(disturbed) + " of " +
                 std::to_string(repeats) + " repeats";
    return words + (disturbed > 0 && result.backend == Backend::cpu
                        ? ". Close other programs or use fewer threads, and press F5. "
                        : ". Press F5 to measure again. ");
}

std::string rate_words(const Copy& copy) {
    const double rate = copy.gigabytes_per_second();
    return (rate < 10 ? rounded(rate, 2) : short_number(std::round(rate))) + " GB/s";
}

}  // namespace

Figure times_figure(const Result& result) {
    Figure figure = new_figure("times", Place::times, "Time", "Median with quartiles, stacked by launch.",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "variant"});
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time) continue;
        bars.bars.push_back(time_bar(variant));
        bars.bars.back().segments = segments_of(variant);
        figure.y.categories.push_back(variant.name);
    }
    if (bars.bars.empty()) {
        figure.missing = "The time of every variant. Available after a run with repeats (press F5).";
        return figure;
    }
    break_long_bars(figure, bars, lengths_of(bars));
    if (bars.most && result.copy && result.copy->time.median > *bars.most) {  // the limit stays in sight
        bars.most = 1.1 * result.copy->time.median;
        figure.x.maximum = bars.most;
    }
    figure.caption = stability_words(result) + figure.caption;
    figure.marks.push_back(std::move(bars));
    if (const auto& copy = result.copy) {
        const std::string words =
            "copy of " + short_bytes(copy->bytes) + ": " + time_words(copy->time) + ", " + rate_words(*copy);
        figure.marks.push_back(Rule{Rule::Across::x, copy->time.median, words, {Ink::Role::limit}});
        figure.caption += " Dashed line: time to copy the same number of bytes.";
    }
    return figure;
}

}  // namespace sawtooth

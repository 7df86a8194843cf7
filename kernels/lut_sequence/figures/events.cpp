// Figures of the events of the drawn sequence: what the buffers hold, what the dense statistic merges, and
// the rows of a detector.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kernels/core/table.h"
#include "kernels/lut_sequence/events.h"
#include "kernels/lut_sequence/figures/lookups.h"

namespace sawtooth::lut_sequence {
namespace {

constexpr int64_t most_lookups = 1 << 19;  // larger numbers would keep the window waiting
constexpr int64_t most_cells = 128;        // per side of the heat map; with more rows a cell shows several

// The rows of a detector that pairs choose.
struct Rows {
    const Drawn& drawn;

    int64_t row(int64_t query, int64_t key, int64_t positional) const {
        return query << (drawn.anchors + drawn.positional) | key << drawn.positional | positional;
    }
};

void keep_distinct(std::vector<int32_t>& neurons) {
    std::sort(neurons.begin(), neurons.end());
    neurons.erase(std::unique(neurons.begin(), neurons.end()), neurons.end());
}

// Tells whether a neuron has synapses; with full connectivity all have.
struct Connected {
    const int32_t* offsets = nullptr;

    explicit Connected(const Result& result) {
        if (const Array* array = find(result.inputs, "synapse_offsets"))
            offsets = array->as<int32_t>().data();
    }
    bool operator()(int64_t neuron) const { return !offsets || offsets[neuron] < offsets[neuron + 1]; }
};

class EventMaker {
  public:
    EventMaker(const Result& result, const Drawn& drawn)
        : drawn_(drawn), found_(result, drawn, {0, drawn.detectors}, drawn.length), connected_(result) {}

    EventsAt at(int64_t query) const {
        EventsAt events;
        for (int64_t t = 0; t < drawn_.detectors; ++t)
            for (int64_t key = 0; key < query; ++key) add_pair(events, query, key, t);
        events.main = std::ssize(events.neurons);
        events.alternative = std::ssize(events.alternative_neurons);
        keep_distinct(events.neurons);
        keep_distinct(events.alternative_neurons);
        std::vector<int32_t> others;
        std::set_difference(events.alternative_neurons.begin(), events.alternative_neurons.end(),
                            events.neurons.begin(), events.neurons.end(), std::back_inserter(others));
        events.alternative_neurons = std::move(others);
        return events;
    }

  private:
    void add_pair(EventsAt& events, int64_t query, int64_t key, int64_t detector) const {
        const Bits &q = found_.position(query, detector), &k = found_.position(key, detector),
                   &pe = found_.distance(query, key, detector);
        const Rows rows{drawn_};
        const int64_t first = detector * drawn_.rows, row = rows.row(q.value, k.value, pe.value);
        const auto add = [&](std::vector<int32_t>& neurons, int64_t neuron) {
            if (connected_(neuron)) neurons.push_back(static_cast<int32_t>(neuron));
        };
        add(events.neurons, first + row);
        const Flips flips(q, k, pe);
        if (flips.query) add(events.alternative_neurons, first + (row ^ rows.row(1 << q.weakest, 0, 0)));
        if (flips.key) add(events.alternative_neurons, first + (row ^ rows.row(0, 1 << k.weakest, 0)));
        if (flips.positional) add(events.alternative_neurons, first + (row ^ (1 << pe.weakest)));
    }

    const Drawn& drawn_;
    Lookups found_;
    Connected connected_;
};

// The numbers of events and neurons, summed over all positions.
struct Totals {
    int64_t main = 0, alternative = 0, neurons = 0, alternative_neurons = 0;

    explicit Totals(const EventsByPosition& all) {
        for (const EventsAt& at : all) {
            main += at.main;
            alternative += at.alternative;
            neurons += std::ssize(at.neurons);
            alternative_neurons += std::ssize(at.alternative_neurons);
        }
    }
};

std::string caption_of(const Totals& totals, const Drawn& drawn) {
    const int64_t buffered = totals.main + totals.alternative,
                  merged = totals.neurons + totals.alternative_neurons;
    return fmt::format(
        "Chosen rows: {}. Rows with a bit flipped, for the backward pass: {}. Merging equal ones leaves "
        "{:.1f}x fewer. The buffers hold {} and {} events.",
        with_thousands(totals.main), with_thousands(totals.alternative),
        static_cast<double>(buffered) / static_cast<double>(merged),
        with_thousands(most_events(drawn, main_events) / drawn.batch),
        with_thousands(most_events(drawn, alternative_events) / drawn.batch));
}

Figure events_figure(const EventsByPosition& all, const Drawn& drawn) {
    Figure figure =
        new_figure("events", Place::views, fmt::format("Events by position, sequence {}", drawn.item), "",
                   place_axis("position", drawn.length), {.label = "events", .minimum = 0});
    figure.chosen_by = {"drawn_batch"};
    if (all.empty()) {
        leave_out_without_events(figure, drawn);
        return figure;
    }
    figure.caption = caption_of(Totals(all), drawn);
    const auto add = [&](const std::string& label, Ink ink, auto&& count) {
        Line line = line_of(label, ink, {});
        for (size_t at = 0; at < all.size(); ++at) {
            line.x.push_back(static_cast<double>(at));
            line.y.push_back(static_cast<double>(count(all[at])));
        }
        figure.marks.push_back(std::move(line));
    };
    const Ink main{Ink::Role::kind, 0}, alternative{Ink::Role::kind, 1};
    const auto dashed = [](Ink ink) { return Ink{ink.role, ink.index, true}; };
    add("chosen rows", main, [](const EventsAt& at) { return at.main; });
    add("chosen rows, equal ones merged", dashed(main),
        [](const EventsAt& at) { return std::ssize(at.neurons); });
    add("rows with a bit flipped", alternative, [](const EventsAt& at) { return at.alternative; });
    add("rows with a bit flipped, equal ones merged", dashed(alternative),
        [](const EventsAt& at) { return std::ssize(at.alternative_neurons); });
    return figure;
}

// For each row of the drawn detector (down) and each position (across), the number of pairs that choose the
// row.
Figure rows_figure(const Result& result, const Drawn& drawn, bool is_counted) {
    Figure figure = new_figure("rows", Place::views, "Rows of the table by position, " + drawn.words(), "",
                               {.label = "later position"}, {.label = "row"});
    figure.chosen_by = {"drawn_batch", "drawn_detector"};
    if (!is_counted) {
        leave_out_without_events(figure, drawn);
        return figure;
    }
    const Lookups found(result, drawn, {drawn.detector, drawn.detector + 1}, drawn.length);
    const Rows rows{drawn};
    const int64_t height = ceil_divide(drawn.rows, most_cells), width = ceil_divide(drawn.length, most_cells);
    HeatMap map = heat_map("pairs", ceil_divide(drawn.rows, height), ceil_divide(drawn.length, width));
    map.y_high = static_cast<double>(map.rows * height) - 0.5;
    map.x_high = static_cast<double>(map.columns * width) - 0.5;
    map.values.assign(static_cast<size_t>(map.rows * map.columns), gap);
    std::vector<int32_t> used;
    for (int64_t j = 1; j < drawn.length; ++j)
        for (int64_t i = 0; i < j; ++i) {
            const int64_t row =
                rows.row(found.position(j, drawn.detector).value, found.position(i, drawn.detector).value,
                         found.distance(j, i, drawn.detector).value);
            double& value = map.values[static_cast<size_t>(row / height * map.columns + j / width)];
            value = std::isnan(value) ? 1 : value + 1;
            used.push_back(static_cast<int32_t>(row));
        }
    keep_distinct(used);
    figure.caption =
        fmt::format("{} of {} rows ({} %) are used by {}. The later position fixes the upper {} of a row.",
                    with_thousands(std::ssize(used)), with_thousands(drawn.rows),
                    percent_number(static_cast<double>(used.size()) / static_cast<double>(drawn.rows)),
                    count_words(drawn.pairs(), "pair"), count_words(drawn.anchors, "bit"));
    if (height * width > 1) figure.caption += fmt::format(" A cell shows {} x {}.", height, width);
    figure.marks.push_back(std::move(map));
    return figure;
}

}  // namespace

EventsByPosition events_of(const Result& result, const Drawn& drawn) {
    if (drawn.pairs() == 0 || drawn.lookups() > most_lookups) return {};
    const EventMaker maker(result, drawn);
    EventsByPosition all;
    for (int64_t position = 0; position < drawn.length; ++position) all.push_back(maker.at(position));
    return all;
}

void leave_out_without_events(Figure& figure, const Drawn& drawn) {
    leave_out(figure, drawn.pairs() == 0
                          ? "Set sequence_length to 2 or more: one position has no pairs."
                          : fmt::format("Too many pairs to draw ({}; limit {}). Reduce sequence_length or "
                                        "detectors.",
                                        with_thousands(drawn.lookups()), with_thousands(most_lookups)));
}

std::vector<Figure> event_figures(const Result& result, const EventsByPosition& events) {
    const Drawn drawn(result.parameters);
    return {events_figure(events, drawn), rows_figure(result, drawn, !events.empty())};
}

}  // namespace sawtooth::lut_sequence

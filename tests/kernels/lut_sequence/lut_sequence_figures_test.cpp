// The numbers in the figures of look-up tables on sequences, against small computations of their own.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/lut_sequence/family.h"
#include "kernels/lut_sequence/figures/common.h"
#include "kernels/lut_sequence/figures/hash_table.h"
#include "kernels/lut_sequence/figures/sweeps.h"
#include "kernels/lut_sequence/parts.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace figure_facts;

// Returns a result with generated inputs, in which no variant ran.
Result result_of(const Settings& settings) {
    Result result;
    result.parameters = settled(lut_sequence_family(), settings);
    result.inputs = generated_inputs(lut_sequence_family(), result.parameters);
    return result;
}

// Returns a result with one detector of one bit, whose differences at the positions are the given numbers.
Result with_differences(const std::vector<float>& differences, const std::vector<float>& positional,
                        const Settings& more = {}) {
    const Settings settings = {{"sequence_length", std::ssize(differences)},
                               {"inputs", 2},
                               {"detectors", 1},
                               {"anchors_per_detector", 1},
                               {"positional_bits", 1}};
    Result result = result_of(with(settings, more));
    const auto x = find(result.inputs, "x")->as<float>();
    for (size_t i = 0; i < differences.size(); ++i) {
        x[2 * i] = differences[i];
        x[2 * i + 1] = 0;
    }
    find(result.inputs, "anchors")->as<int32_t>()[0] = 0;
    find(result.inputs, "anchors")->as<int32_t>()[1] = 1;
    std::ranges::copy(positional, find(result.inputs, "positional")->as<float>().begin());
    return result;
}

// Computes independently of the program what a pair of positions chooses.
struct Oracle {
    const Result& result;
    lut_sequence::Drawn drawn{result.parameters};

    struct Found {
        int value = 0, weakest = -1;
        double margin = 0;
    };
    void add(Found& found, int bit, double delta) const {
        if (delta > 0) found.value += 1 << bit;
        if (found.weakest < 0 || std::abs(delta) < found.margin)
            found.weakest = bit, found.margin = std::abs(delta);
    }
    Found position(int64_t at, int64_t detector) const {
        const Array &x = *find(result.inputs, "x"), &anchors = *find(result.inputs, "anchors");
        Found found;
        for (int bit = 0; bit < drawn.anchors; ++bit) {
            const auto anchor = [&](int which) {
                return anchors
                    .as<int32_t>()[static_cast<size_t>((detector * drawn.anchors + bit) * 2 + which)];
            };
            const auto value = [&](int input) {
                return x.as<float>()[static_cast<size_t>((drawn.item * drawn.length + at) * drawn.inputs +
                                                         input)];
            };
            if (anchor(0) < 0 || anchor(1) < 0) continue;
            const float delta = value(anchor(0)) - value(anchor(1));
            add(found, bit, double{delta});
        }
        return found;
    }
    Found distance(int64_t distance, int64_t detector) const {
        const Array& values = *find(result.inputs, "positional");
        Found found;
        for (int bit = 0; bit < drawn.positional; ++bit)
            add(found, bit,
                values.value(((distance - 1) * drawn.detectors + detector) * drawn.positional + bit).real());
        return found;
    }
    // The neurons of a pair: the main one, then alternative ones.
    std::vector<int64_t> neurons(int64_t j, int64_t i, int64_t detector) const {
        const Found q = position(j, detector), k = position(i, detector), pe = distance(j - i, detector);
        const int64_t k_unit = int64_t{1} << drawn.positional, q_unit = k_unit << drawn.anchors;
        const auto row = [&](int64_t query, int64_t key, int64_t positional) {
            return detector * drawn.rows + query * q_unit + key * k_unit + positional;
        };
        std::vector<int64_t> all = {row(q.value, k.value, pe.value)};
        if (q.margin < k.margin) {
            if (q.weakest >= 0) all.push_back(row(q.value ^ (1 << q.weakest), k.value, pe.value));
        } else if (k.weakest >= 0) {
            all.push_back(row(q.value, k.value ^ (1 << k.weakest), pe.value));
        }
        if (pe.weakest >= 0 && pe.margin < q.margin && pe.margin < k.margin)
            all.push_back(row(q.value, k.value, pe.value ^ (1 << pe.weakest)));
        return all;
    }
};

TEST_CASE("lut_sequence: the map of pairs shows which bit of each pair gets the gradient",
          "[lut_sequence][figures]") {
    // Position 1 is nearest to flipping; 2 and 3 tie, which flips K. PE is nearest at distance 1.
    const Result result = with_differences({4, -1, 2, -2, 3}, {0.5f, 9, -9, 9}, {{"tile", 8}});
    const Figure figure = figure_of(result, "pairs");
    const KindMap map = marks_of<KindMap>(figure).front();
    REQUIRE(map.row_names.size() == 5);
    CHECK(map.row_names[3] == "query 3: tile 0");
    const auto label = [&](size_t j, size_t i) {
        return map.kinds[static_cast<size_t>(map.kind_at(j, i))].label;
    };
    for (size_t j = 0; j < 5; ++j) {
        for (size_t i = j; i < 5; ++i) CHECK(label(j, i) == "no pair");
        if (j > 0) CHECK(label(j, j - 1) == "distance too (PE)");
    }
    CHECK(label(2, 0) == "later position (Q)");
    CHECK(label(3, 0) == "later position (Q)");
    CHECK(label(3, 1) == "earlier position (K)");
    CHECK(label(4, 0) == "later position (Q)");
    CHECK(label(4, 1) == "earlier position (K)");
    CHECK(label(4, 2) == "earlier position (K)");
    // Some also flip the bit of the distance: (1, 0) flips Q, (2, 1) K, (3, 2) K, (4, 3) K.
    CHECK(contains(figure.caption,
                   "Of 10 pairs, 4 pass their gradient to the later position, 6 to the earlier one, and 4 "
                   "also to the distance."));
    CHECK(contains(figure.caption,
                   "Position 1 is closest to flipping (1): it gets the gradient of 4 of its 4 pairs"));
    CHECK(contains(figure.caption, "Computed tiles: 1 of 1."));
}

// Returns the number of cells of each kind in a map.
std::map<std::string, int64_t> kinds_of(const KindMap& map) {
    std::map<std::string, int64_t> counts;
    for (const int cell : map.cells) ++counts[map.kinds[static_cast<size_t>(cell)].label];
    return counts;
}

TEST_CASE("lut_sequence: a pair chooses a row of each detector by its bits", "[lut_sequence][figures]") {
    const Result result =
        result_of({{"detectors", 6}, {"drawn_query", 9}, {"drawn_key", 4}, {"drawn_output", 3}});
    const Oracle oracle{result};
    const Figure figure = figure_of(result, "pair");
    const Matrix matrix = marks_of<Matrix>(figure).front();
    REQUIRE(matrix.row_labels.size() == 4);  // four detectors, including the drawn one, 0
    double sum = 0;
    for (int64_t t = 0; t < 6; ++t) {
        const int64_t row = oracle.neurons(9, 4, t)[0] - t * oracle.drawn.rows;
        const float weight = find(result.inputs, "weights")
                                 ->as<float>()[static_cast<size_t>((t * oracle.drawn.rows + row) * 16 + 3)];
        sum += double{weight};
        if (t >= 4) continue;
        const auto text = [&](size_t column) { return matrix.texts[static_cast<size_t>(5 * t) + column]; };
        CHECK(text(0) + text(1) + text(2) == fmt::format("{:08b}", row));
        CHECK(text(3) == std::to_string(row));
        CHECK(text(4) == fmt::format("{:+.2g}", double{weight}));
    }
    CHECK(contains(figure.caption, fmt::format("together these add {:+.3g} to output 3.", sum)));
}

TEST_CASE("lut_sequence: the earlier position of a pair is before the later one", "[lut_sequence][figures]") {
    const Result result = result_of({{"drawn_query", 5}, {"drawn_key", 31}});
    CHECK(marks_of<Matrix>(figure_of(result, "pair")).front().column_labels[1] == "K at 4");
}

TEST_CASE("lut_sequence: tiles above the diagonal are skipped", "[lut_sequence][figures]") {
    const Result result = result_of({{"sequence_length", 40}, {"tile", 16}});
    const Figure figure = figure_of(result, "pairs");
    const auto counts = kinds_of(marks_of<KindMap>(figure).front());
    CHECK(counts.at("skipped tile") == 16 * 16 + 2 * 16 * 8);
    CHECK(counts.at("no pair") == 2 * (16 * 17 / 2) + 8 * 9 / 2);
    CHECK(contains(figure.caption, "Computed tiles: 6 of 9."));
    CHECK(marks_of<Rule>(figure).size() == 4);
    CHECK(marks_of<Rule>(figure).front().at == 15.5);
}

TEST_CASE("lut_sequence: pairs without inputs to compare flip nothing", "[lut_sequence][figures]") {
    Result result = result_of({{"sequence_length", 4}, {"detectors", 2}, {"drawn_detector", 1}});
    const auto anchors = find(result.inputs, "anchors")->as<int32_t>();
    std::ranges::fill(anchors.subspan(anchors.size() / 2), -1);
    const Figure figure = figure_of(result, "pairs");
    CHECK(kinds_of(marks_of<KindMap>(figure).front()).at("no bit") == 6);
    CHECK(contains(figure.caption,
                   "Of 6 pairs, 0 pass their gradient to the later position, 0 to the earlier one; 6 have no "
                   "bit to flip. Computed tiles: 1 of 1."));
}

TEST_CASE("lut_sequence: in a long sequence a cell of the map is a tile", "[lut_sequence][figures]") {
    const Result result = result_of({{"sequence_length", 200}, {"tile", 16}, {"detectors", 1}});
    const Figure figure = figure_of(result, "pairs");
    const KindMap map = marks_of<KindMap>(figure).front();
    CHECK(map.label == "tile");
    REQUIRE(map.row_names.size() == 13);
    CHECK(map.row_names[12] == "queries 192 to 199: tile 12");
    CHECK(kinds_of(map).at("skipped tile") == 13 * 12 / 2);
    CHECK(contains(figure.caption, "Of 19,900 pairs"));
    CHECK(contains(figure.caption, "Computed tiles: 91 of 169."));
    CHECK(marks_of<Rule>(figure).empty());
}

TEST_CASE("lut_sequence: events are those of all pairs, merged by neuron and position",
          "[lut_sequence][figures]") {
    const int64_t anchors = GENERATE(1, 3), positional = GENERATE(0, 2), length = GENERATE(2, 33);
    const Result result = result_of({{"batch", 2},
                                     {"sequence_length", length},
                                     {"detectors", 5},
                                     {"anchors_per_detector", anchors},
                                     {"positional_bits", positional},
                                     {"drawn_batch", 1},
                                     {"drawn_detector", 3}});
    INFO(anchors << " " << positional << " " << length);
    const Oracle oracle{result};
    const Figure figure = figure_of(result, "events");
    const auto lines = marks_of<Line>(figure);
    std::set<int64_t> used;
    int64_t buffered = 0, merged = 0;
    for (int64_t j = 0; j < length; ++j) {
        std::set<int64_t> main, alternative;
        int64_t alternatives = 0;
        for (int64_t t = 0; t < 5; ++t)
            for (int64_t i = 0; i < j; ++i) {
                const auto neurons = oracle.neurons(j, i, t);
                main.insert(neurons[0]);
                if (t == 3) used.insert(neurons[0]);
                alternative.insert(neurons.begin() + 1, neurons.end());
                alternatives += std::ssize(neurons) - 1;
            }
        for (const int64_t neuron : main) alternative.erase(neuron);
        const auto y = [&](const char* label) { return line_named(lines, label).y[static_cast<size_t>(j)]; };
        CHECK(y("chosen rows") == static_cast<double>(5 * j));
        CHECK(y("rows with a bit flipped") == static_cast<double>(alternatives));
        CHECK(y("chosen rows, equal ones merged") == static_cast<double>(main.size()));
        CHECK(y("rows with a bit flipped, equal ones merged") == static_cast<double>(alternative.size()));
        buffered += 5 * j + alternatives;
        merged += std::ssize(main) + std::ssize(alternative);
    }
    CHECK(contains(figure.caption, fmt::format("{:.1f}x fewer",
                                               static_cast<double>(buffered) / static_cast<double>(merged))));
    CHECK(contains(figure_of(result, "rows").caption,
                   fmt::format("{} of {} rows", used.size(), 1 << (2 * anchors + positional))));
}

TEST_CASE("lut_sequence: the rows of a detector are counted by position", "[lut_sequence][figures]") {
    const int64_t length = GENERATE(20, 200);
    const Result result = result_of({{"sequence_length", length}, {"detectors", 2}, {"drawn_detector", 1}});
    const Oracle oracle{result};
    const Figure figure = figure_of(result, "rows");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    CHECK(map.rows == 128);
    CHECK(map.columns == (length == 20 ? 20 : 100));
    std::vector<double> counts(map.values.size());
    for (int64_t j = 0; j < length; ++j)
        for (int64_t i = 0; i < j; ++i) {
            const int64_t row = oracle.neurons(j, i, 1)[0] - 256;
            ++counts[static_cast<size_t>(row / 2 * map.columns + j / (length == 20 ? 1 : 2))];
        }
    for (size_t at = 0; at < counts.size(); ++at)
        CHECK((std::isnan(map.values[at]) ? 0 : map.values[at]) == counts[at]);
}

TEST_CASE("lut_sequence: rows without synapses have no events", "[lut_sequence][figures]") {
    Result result = result_of(
        {{"sequence_length", 12}, {"connectivity", "sparse"}, {"synapses_per_neuron", 1}, {"detectors", 2}});
    const Oracle oracle{result};
    const auto offsets = find(result.inputs, "synapse_offsets")->as<int32_t>();
    int64_t main = 0;
    for (int64_t j = 0; j < 12; ++j)
        for (int64_t t = 0; t < 2; ++t)
            for (int64_t i = 0; i < j; ++i) {
                const auto neuron = static_cast<size_t>(oracle.neurons(j, i, t)[0]);
                main += offsets[neuron] < offsets[neuron + 1];
            }
    CHECK(main < 132);
    CHECK(figure_of(result, "events").caption.starts_with(fmt::format("Chosen rows: {}.", main)));
    std::ranges::fill(offsets, 0);
    CHECK(contains(figure_of(result, "hash-fill").missing, "no chosen row has synapses"));
}

TEST_CASE("lut_sequence: keys take the first free slot from neuron + position on",
          "[lut_sequence][figures]") {
    const int64_t anchors = GENERATE(1, 2, 4);  // the last one wraps around the table
    const Result result = result_of({{"sequence_length", 9}, {"anchors_per_detector", anchors}});
    const lut_sequence::Drawn drawn(result.parameters);
    const auto events = lut_sequence::events_of(result, drawn);
    const int64_t width = 6 * 8 * 9 * 8;
    CHECK((drawn.neurons() > width) == (anchors == 4));
    const lut_sequence::HashTable table(lut_sequence::HashStart(width, false), events);
    std::vector<bool> filled(static_cast<size_t>(width));
    size_t key = 0;
    for (const bool main : {true, false})
        for (int64_t position = 0; position < 9; ++position) {
            const auto& at = events[static_cast<size_t>(position)];
            for (const int32_t neuron : main ? at.neurons : at.alternative_neurons) {
                int64_t slot = (neuron + position) % width, probes = 1;
                for (; filled[static_cast<size_t>(slot)]; ++probes) slot = (slot + 1) % width;
                filled[static_cast<size_t>(slot)] = true;
                REQUIRE(key < table.probes.size());
                CHECK(table.probes[key++] == probes);
            }
        }
    CHECK(key == table.probes.size());
    CHECK(table.filled == filled);
    Parameters with_backward = result.parameters;
    with_backward.set("backward", true);
    CHECK((table.mean_probes() - 1) * static_cast<double>(key) <=
          lut_sequence::probes_of_crowded_table(with_backward));

    const Figure figure = figure_of(result, "hash-probes");
    double drawn_keys = 0;
    const Bars bars = marks_of<Bars>(figure).front();
    for (const Bar& bar : bars.bars) drawn_keys += bar.segments.front().length;
    CHECK(drawn_keys == static_cast<double>(key));
    const Figure fill = figure_of(result, "hash-fill");
    CHECK(contains(fill.caption, fmt::format("Keys: {} in", key)));
    // The part in sight has all keys.
    const Line starts = line_named(marks_of<Line>(fill), "keys that try this slot first");
    double started = 0;
    for (const double share : starts.y) started += share;
    CHECK(started * *fill.x.maximum / static_cast<double>(starts.y.size()) ==
          Approx(static_cast<double>(key)).epsilon(0.02));
}

TEST_CASE("lut_sequence: few rows make one cluster in the hash table", "[lut_sequence][figures]") {
    // One row per detector and no distances: neuron 0 at every position that has a pair, and its
    // alternatives.
    const lut_sequence::EventsByPosition events = {{}, {1, 1, {0}, {1}}, {2, 2, {0}, {1}}};
    const lut_sequence::HashTable table(lut_sequence::HashStart(36, false), events);
    // Keys (0, 1) and (0, 2) start at 1 and 2, then (1, 1) at 2 and (1, 2) at 3.
    CHECK(table.probes == std::vector<int64_t>{1, 1, 2, 2});
    CHECK(table.mean_probes() == 1.5);
    CHECK(table.starts[2] == 2);
    CHECK(std::ranges::count(table.filled, true) == 4);
}

TEST_CASE("lut_sequence: a sequence of one position has no pairs, and a huge one is not counted",
          "[lut_sequence][figures]") {
    const Result single = result_of({{"sequence_length", 1}});
    const Result huge = result_of({{"sequence_length", 512}, {"detectors", 16}});
    for (const char* id : {"events", "rows", "hash-fill", "hash-probes"}) {
        INFO(id);
        CHECK(contains(figure_of(single, id).missing, "Set sequence_length to 2 or more"));
        CHECK(contains(figure_of(huge, id).missing, "(2,093,056; limit 524,288). Reduce sequence_length"));
    }
    for (const char* id : {"pair", "pairs"})
        CHECK(contains(figure_of(single, id).missing, "Set sequence_length to 2 or more"));
    CHECK_FALSE(figure_of(huge, "pair").marks.empty());
    CHECK_FALSE(figure_of(huge, "pairs").marks.empty());
}

TEST_CASE("lut_sequence: time by events stacks the kernels of unfused", "[lut_sequence][figures]") {
    SweepResult swept;
    swept.sweep = {"events", {}, {{"events", {"buffer", "statistic"}}}};
    swept.sweep.base.parameters = settled(lut_sequence_family());
    CHECK_FALSE(lut_sequence::event_sweep_figures(swept).front().missing.empty());
    for (size_t i = 0; i < 2; ++i) {
        VariantResult unfused;
        unfused.name = "unfused";
        const double us = i == 0 ? 30 : 60;
        unfused.time = TimeStatistics{us, us, us, {us}};
        for (const auto& [name, part] : {std::pair{"fill", 0.5}, {"gather", 0.25}, {"fill", 0.125}}) {
            LaunchInfo info;
            info.name = name;
            LaunchRecord launch;
            launch.info = std::make_shared<const LaunchInfo>(info);
            launch.duration_us = us * part;
            unfused.launches.push_back(launch);
        }
        Result result;
        result.parameters = swept.sweep.base.parameters;
        result.variants = {unfused};
        swept.cells.push_back({swept.sweep.cell(i), "", std::make_shared<const Result>(std::move(result))});
    }
    const Figure figure = lut_sequence::event_sweep_figures(swept).front();
    const Bars bars = marks_of<Bars>(figure).front();
    REQUIRE(bars.bars.size() == 2);
    CHECK(figure.y.categories == std::vector<std::string>{"buffer", "statistic"});
    REQUIRE(bars.bars[1].segments.size() == 2);
    // The bar has the length of the median; "fill" takes 5/7 of it.
    CHECK(bars.bars[1].segments[0].length == Approx(60.0 * 5 / 7));
    CHECK(bars.bars[1].segments[1].length == Approx(60.0 * 2 / 7));
    CHECK(contains(figure.caption, "buffer: 30 us, of which fill takes 18.8 us. statistic: 60 us"));
}

TEST_CASE("lut_sequence: every figure of a run has marks or a sentence", "[lut_sequence][figures]") {
    const bool backward = GENERATE(false, true);
    const char* const connectivity = GENERATE("full", "sparse");
    const int64_t length = GENERATE(1, 20), positional = GENERATE(0, 2);
    const Result result = run_in_engine(lut_sequence_family(), {{"sequence_length", length},
                                                                {"detectors", 2},
                                                                {"positional_bits", positional},
                                                                {"connectivity", connectivity},
                                                                {"backward", backward}});
    INFO(length << " " << positional << " " << connectivity);
    const std::vector<Figure> figures = lut_sequence::figures(result, {});
    const auto ids = ids_of_complete(figures, lut_sequence_family());
    if (backward)
        CHECK(figure_named(figures, "error-dweights").title == (connectivity == std::string("full")
                                                                    ? "Error of dweights by row, detector 0"
                                                                    : "Error of dweights by synapse"));
    for (const char* id : {"pairs", "events", "rows", "kernels", "kernels-stacked", "hash-fill",
                           "hash-probes", "output-y", "error-y"})
        CHECK(ids.count(id) == 1);
    for (const char* id : {"output-dx", "error-dx", "error-dweights"}) CHECK(ids.count(id) == backward);
    CHECK(ids.count("gradient-dpositional") == (backward && length > 1 && positional > 0));
}

}  // namespace
}  // namespace sawtooth

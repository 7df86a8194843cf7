// The numbers in the figures of the AR-SSM layer, against small computations of their own.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/ar_ssm/family.h"
#include "kernels/ar_ssm/figures/common.h"
#include "kernels/ar_ssm/figures/sweeps.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/range.h"
#include "kernels/scan/job.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace figure_facts;

Result result_of(const Settings& settings) { return figure_facts::result_of(ar_ssm_family(), settings); }

double value_of(const Result& result, const char* output, int64_t index) {
    return find(result.reference, output)->value(index).real();
}

TEST_CASE("ar_ssm: the map of gates has those of the drawn sequence", "[ar_ssm][figures]") {
    const Result result =
        result_of({{"batch", 2}, {"length", 70}, {"d_model", 12}, {"max_rank", 5}, {"drawn_batch", 1}});
    const Figure figure = figure_of(result, "gates");
    CHECK(contains(figure.title, "sequence 1"));
    const HeatMap map = marks_of<HeatMap>(figure).front();
    REQUIRE(map.rows == 5);
    REQUIRE(map.columns == 70);
    std::vector<double> means(5);
    for (int64_t position = 0; position < 70; ++position)
        for (int64_t rank = 0; rank < 5; ++rank) {
            const double gate = value_of(result, "gates", (70 + position) * 5 + rank);
            CHECK(map.values[static_cast<size_t>(rank * 70 + position)] == gate);
            means[static_cast<size_t>(rank)] += gate / 70;
        }
    const auto [least, most] = std::minmax_element(means.begin(), means.end());
    CHECK(contains(figure.caption,
                   fmt::format("Rank {} is open most ({:.2f} on average), rank {} least ({:.2f} on average).",
                               most - means.begin(), *most, least - means.begin(), *least)));
}

TEST_CASE("ar_ssm: cells of long sequences and many ranks are means of what is in sight",
          "[ar_ssm][figures]") {
    const Result result = result_of({{"length", 1300}, {"d_model", 4}, {"max_rank", 300}});
    const auto mean_over = [&](Range positions, Range ranks) {
        double sum = 0;
        for (int64_t position = positions.first; position < positions.last; ++position)
            for (int64_t rank = ranks.first; rank < ranks.last; ++rank)
                sum += value_of(result, "gates", position * 300 + rank);
        return sum / static_cast<double>(positions.count() * ranks.count());
    };
    const Figure whole = figure_of(result, "gates");
    const HeatMap map = marks_of<HeatMap>(whole).front();
    REQUIRE(map.rows == 128);
    REQUIRE(map.columns == 512);
    CHECK(map.y_high == 299.5);
    CHECK(map.values.front() == Approx(mean_over({0, 3}, {0, 3})));
    CHECK(map.values.back() == Approx(mean_over({1298, 1300}, {298, 300})));
    CHECK(contains(whole.caption, "A cell is the mean of 2.54 positions and 2.34 ranks."));
    View view;
    view.visible["position"] = {100, 199};
    const Figure part = figure_of(result, "gates", view);
    const HeatMap zoomed = marks_of<HeatMap>(part).front();
    CHECK(zoomed.columns == 100);
    CHECK(zoomed.x_low == 99.5);
    CHECK(zoomed.values.front() == Approx(mean_over({100, 101}, {0, 3})));
    CHECK(contains(part.caption, "A cell is the mean of 2.34 ranks."));
}

TEST_CASE("ar_ssm: the effective rank is drawn below its limit", "[ar_ssm][figures]") {
    const auto mode = GENERATE(as<std::string>(), "soft", "hard");
    const Result result = result_of({{"length", 90}, {"d_model", 8}, {"max_rank", 6}, {"gate_mode", mode}});
    const Figure figure = figure_of(result, "effective-rank");
    CHECK(marks_of<Rule>(figure).front().at == 6);
    CHECK(figure.y.minimum == 0);
    const Line line = line_named(marks_of<Line>(figure), "float64 reference");
    double sum = 0;
    for (size_t position = 0; position < 90; ++position) {
        double gates = 0;
        for (int64_t rank = 0; rank < 6; ++rank)
            gates += value_of(result, "gates", static_cast<int64_t>(position) * 6 + rank);
        CHECK(line.y[position] == Approx(gates));
        sum += gates;
    }
    const auto [least, most] = std::minmax_element(line.y.begin(), line.y.end());
    CHECK(figure.caption == fmt::format("Between {:.2g} and {:.2g} of 6 ranks are open, {:.2g} on average.",
                                        *least, *most, sum / 90));
    if (mode == "hard") CHECK(contains(figure_of(result, "gates").caption, "% of the positions), rank"));
}

TEST_CASE("ar_ssm: gates of generated inputs open and close along the sequence", "[ar_ssm][figures]") {
    const Result result = result_of({});
    const auto ranks = find(result.reference, "effective_rank")->as<double>();
    const auto mean = [&](size_t first, size_t last) {
        double sum = 0;
        for (size_t at = first; at < last; ++at) sum += ranks[at];
        return sum / static_cast<double>(last - first);
    };
    const size_t length = ranks.size(), wave = length / 3;  // quiet at its ends, loud in the middle
    CHECK(mean(0, wave / 8) < 4);
    CHECK(mean(wave * 7 / 16, wave * 9 / 16) > 12);
    CHECK(mean(wave * 15 / 16, wave * 17 / 16) < 4);
}

TEST_CASE("ar_ssm: one rank, and gates that are all alike", "[ar_ssm][figures]") {
    Result result = result_of({{"length", 10}, {"d_model", 4}, {"max_rank", 1}});
    CHECK(contains(figure_of(result, "gates").caption, "The only rank is open 0."));
    std::ranges::fill(find(result.reference, "effective_rank")->as<double>(), 0.5);
    CHECK(contains(figure_of(result, "effective-rank").caption, "0.5 of 1 ranks are open at every position"));
    CHECK(contains(figure_of(result, "error_by_rank").caption, "Without any rank "));
}

// |y' - y| / |y| over a sequence, where y' has the output projection of these ranks alone.
double distance_with(const Result& result, const std::vector<size_t>& ranks, int64_t sequence) {
    const ar_ssm::Sizes s(result.parameters);
    Arrays inputs = result.inputs;
    Array& weights = *find(inputs, "out_proj");
    const Array all = weights;
    weights = Array::zeros("out_proj", Dtype::f32, all.shape);
    const auto rank = static_cast<size_t>(s.rank);
    for (size_t d = 0; d < static_cast<size_t>(s.width); ++d)
        for (const size_t j : ranks) weights.as<float>()[d * rank + j] = all.as<float>()[d * rank + j];
    const Arrays without = *ar_ssm::reference(result.parameters, inputs, {});
    double difference = 0, size = 0;
    const int64_t count = s.length * s.width;
    for (int64_t at = sequence * count; at < (sequence + 1) * count; ++at) {
        const double y = value_of(result, "y", at);
        difference += std::pow(find(without, "y")->value(at).real() - y, 2);
        size += y * y;
    }
    return std::sqrt(difference / size);
}

TEST_CASE("ar_ssm: errors with fewer ranks are those of the layer with only these ranks",
          "[ar_ssm][figures]") {
    const bool bidirectional = GENERATE(false, true);
    const Result result = result_of({{"batch", 2},
                                     {"length", 40},
                                     {"d_model", 10},
                                     {"max_rank", 6},
                                     {"bidirectional", bidirectional},
                                     {"drawn_batch", 1}});
    const Figure figure = figure_of(result, "error_by_rank");
    const Line first = line_named(marks_of<Line>(figure), "the first ranks"),
               largest = line_named(marks_of<Line>(figure), "the largest ranks");
    REQUIRE(first.y.size() == 7);
    REQUIRE(largest.y.size() == 7);
    // What each rank adds by itself, which is the distance without it.
    std::vector<std::pair<double, size_t>> sizes;
    std::vector<size_t> all(6);
    std::iota(all.begin(), all.end(), size_t{0});
    for (const size_t rank : all) {
        std::vector<size_t> others = all;
        std::erase(others, rank);
        sizes.emplace_back(-distance_with(result, others, 1), rank);
    }
    std::sort(sizes.begin(), sizes.end());
    for (size_t kept = 0; kept <= 6; ++kept) {
        CHECK(first.x[kept] == static_cast<double>(kept));
        const std::vector<size_t> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
        CHECK(first.y[kept] == Approx(100 * distance_with(result, some, 1)).margin(1e-9));
        std::vector<size_t> chosen;
        for (size_t i = 0; i < kept; ++i) chosen.push_back(sizes[i].second);
        CHECK(largest.y[kept] == Approx(100 * distance_with(result, chosen, 1)).margin(1e-9));
    }
    CHECK(
        contains(figure.caption, fmt::format("With the first 3 of 6 ranks, y is {:.0f} % off", first.y[3])));
    CHECK(contains(figure.caption, fmt::format("without any rank {:.0f} %.", first.y[0])));
}

TEST_CASE("ar_ssm: errors with fewer ranks are left out if they take too long", "[ar_ssm][figures]") {
    Result result;
    result.parameters = settled(ar_ssm_family(), {{"length", 1 << 20}, {"d_model", 1024}});
    result.parameters.set("max_rank", int64_t{4096});
    CHECK(contains(ar_ssm::rank_error_figure(result).missing, "too long"));
    result.parameters.set("max_rank", int64_t{4});
    CHECK(contains(ar_ssm::rank_error_figure(result).missing, "Available after a run"));
    result.parameters.set("bidirectional", true);
    CHECK(contains(ar_ssm::rank_error_figure(result).missing, "too long"));
}

// A variant whose launches have these names and take 10 us each.
VariantResult launched(const std::string& name, const std::vector<std::string>& launches) {
    VariantResult variant;
    variant.name = name;
    variant.index = name == "fused";
    const double us = 10.0 * static_cast<double>(launches.size());
    variant.time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
    for (const std::string& launch : launches) {
        LaunchInfo info;
        info.name = launch;
        info.work.bytes = 1000;
        LaunchRecord record;
        record.info = std::make_shared<const LaunchInfo>(info);
        record.start_us = 10.0 * static_cast<double>(variant.launches.size());
        record.duration_us = 10;
        variant.launches.push_back(std::move(record));
    }
    variant.launch_count = std::ssize(launches);
    return variant;
}

TEST_CASE("ar_ssm: the launches of every scan are one step", "[ar_ssm][figures]") {
    for (const auto& [launch, scan] : {std::pair{"sequential", "scan"},
                                       {"reverse_double_16", "reverse_scan"},
                                       {"gradient_reverse_up_sweep_1", "gradient_reverse_scan"},
                                       {"scan_of_block_sums", "scan"},
                                       {"totals_lookback", "totals_scan"},
                                       {"project_out", ""},
                                       {"scan_and_output", ""}})
        CHECK(scan::scan_of(launch) == scan);
    Result result = result_of({{"length", 10}, {"d_model", 4}});
    result.variants = {launched("unfused", {"convolve", "double_1", "double_2", "multiply"}),
                       launched("fused", {"project", "totals_lookback", "scan_and_output"})};
    const auto bars = marks_of<Bars>(figure_of(result, "kernels-stacked")).front().bars;
    REQUIRE(bars[0].segments.size() == 3);
    CHECK(bars[0].segments[1].label == "scan");
    CHECK(bars[0].segments[1].length == 20);
    CHECK(bars[1].segments[1].label == "totals_scan");
    const Figure each = figure_of(result, "kernels");
    CHECK(each.y.categories[1] == "scan, 2x");
    CHECK(marks_of<Bars>(each).front().bars[1].launches == std::vector<std::string>{"double_1", "double_2"});
    const Figure launches = figure_of(result, "launches");
    CHECK(marks_of<Tracks>(launches).front().tracks.size() == 2);
    CHECK(contains(launches.caption, "fused: 3 launches, 30 us"));
}

SweepResult swept(SweepAxis axis) {
    SweepResult sweep{{"", {}, {std::move(axis)}}, {}, true};
    sweep.sweep.base.parameters = settled(ar_ssm_family(), {{"length", 64}});
    return sweep;
}

void add_cell(SweepResult& sweep, std::vector<VariantResult> variants) {
    Result result;
    result.parameters = sweep.sweep.base.parameters;
    result.variants = std::move(variants);
    result.in_turns = true;
    sweep.cells.push_back(
        {sweep.sweep.cell(sweep.cells.size()), "", std::make_shared<const Result>(std::move(result))});
}

TEST_CASE("ar_ssm: with many launches only the shortest of unfused share a row", "[ar_ssm][figures]") {
    Result result = result_of({{"length", 10}, {"d_model", 4}});
    std::vector<std::string> launches;
    for (int i = 0; i < 28; ++i) launches.push_back("launch_" + std::to_string(i));
    result.variants = {launched("unfused", launches),
                       launched("fused", {launches.begin(), launches.begin() + 8})};
    const std::vector<std::string> rows = figure_of(result, "kernels").y.categories;
    REQUIRE(rows.size() == 24);
    CHECK(rows[15] == "13 others");
    CHECK(rows[23] == "launch_7");
}

TEST_CASE("ar_ssm: the time by scan is split into the scan and the rest", "[ar_ssm][figures]") {
    SweepResult sweep = swept({"scan", {"hillis_steele", "lookback"}});
    CHECK(contains(ar_ssm::scan_figures(sweep).front().missing, "as the sweep runs"));
    add_cell(sweep,
             {launched("unfused", {"convolve", "double_1", "double_2", "double_3", "double_4", "multiply"})});
    sweep.complete = false;
    CHECK(contains(ar_ssm::scan_figures(sweep).front().caption, "1 of 2 points. "));
    CHECK_FALSE(contains(ar_ssm::scan_figures(sweep).front().caption, "fastest"));
    add_cell(sweep, {launched("unfused", {"convolve", "lookback", "multiply"})});
    sweep.complete = true;
    const Figure figure = ar_ssm::scan_figures(sweep).front();
    CHECK(figure.y.categories == std::vector<std::string>{"hillis_steele", "lookback"});
    const auto bars = marks_of<Bars>(figure).front().bars;
    REQUIRE(bars[0].segments.size() == 2);
    CHECK(bars[0].segments[0].length == Approx(40));
    CHECK(bars[0].segments[1].length == Approx(20));
    CHECK(bars[0].text == "60 us");
    CHECK(contains(figure.caption,
                   "lookback is fastest: 30 us, 33 % in the launch of the scan. "
                   "hillis_steele takes 60 us, 67 % in 4 launches of the scan."));
    SweepResult refused = swept({"scan", {"lookback"}});
    refused.cells.push_back({{Value("lookback")}, "no memory", nullptr});
    CHECK(contains(ar_ssm::scan_figures(refused).front().missing, "no memory"));
}

TEST_CASE("ar_ssm: the time against max_rank names the faster variant", "[ar_ssm][figures]") {
    SweepResult sweep = swept({"max_rank", {int64_t{1}, int64_t{2}}});
    add_cell(sweep, {launched("unfused", {"a", "b"}), launched("fused", {"a"})});
    add_cell(sweep, {launched("unfused", {"a", "b", "c"}), launched("fused", {"a", "b"})});
    sweep.complete = true;
    const Figure figure = ar_ssm::rank_figures(sweep).front();
    CHECK(figure.id == "time_by_max_rank");
    CHECK(line_named(marks_of<Line>(figure), "fused").y == std::vector<double>{10, 20});
    CHECK(contains(figure.caption, "fused is faster throughout: 1.5x at 2."));
}

TEST_CASE("ar_ssm: sweeps on the CPU are small enough for the background", "[ar_ssm][figures]") {
    const Parameters large = settled(ar_ssm_family(), {{"batch", 8}, {"length", 8192}, {"d_model", 512}});
    for (const FigureSweep& sweep : ar_ssm::sweeps(large)) {
        if (sweep.only_on != Backend::cpu) continue;
        CHECK(sweep.overrides ==
              std::vector<std::pair<std::string, Value>>{{"batch", int64_t{1}}, {"length", int64_t{2048}}});
        CHECK(sweep.axes.front().values.size() >= 5);
    }
}

TEST_CASE("ar_ssm: every figure has marks or a sentence, and gradients appear with the backward pass",
          "[ar_ssm][figures]") {
    const bool backward = GENERATE(false, true), bidirectional = GENERATE(false, true);
    Result result = run_in_engine(
        ar_ssm_family(),
        {{"length", 70}, {"d_model", 12}, {"bidirectional", bidirectional}, {"backward", backward}});
    const auto check_all = [&] {
        const auto ids = ids_of_complete(ar_ssm::figures(result, {}), ar_ssm_family());
        for (const char* id : {"gates", "effective-rank", "launches", "kernels", "kernels-stacked",
                               "error_by_rank", "output-y", "output-gates", "error-y", "error-gates",
                               "error-effective_rank", "error-by-output"})
            CHECK(ids.count(id) == 1);
        for (const char* id : {"output-dx", "error-dx"}) CHECK(ids.count(id) == backward);
    };
    check_all();
    const Figure errors = figure_of(result, "error-by-output");
    CHECK(errors.y.categories.size() == (backward ? 13 : 3));
    CHECK(errors.x.categories == std::vector<std::string>{"unfused", "fused"});
    const HeatMap map = marks_of<HeatMap>(errors).front();
    CHECK(map.values[1] == result.variants[1].errors[0].rel_l2);
    CHECK(contains(errors.caption, "Largest: "));
    result.variants[1].errors[0].nonfinite = 3;
    CHECK(marks_of<HeatMap>(figure_of(result, "error-by-output")).front().texts[1] == "not finite");
    CHECK(figure_of(result, "output-y").caption.starts_with("fused has 3 values that are not finite. "));
    // A partial result has no times yet, and a refused variant no outputs.
    forget_times(result);
    check_all();
    refuse_variants(result);
    check_all();
    CHECK(contains(figure_of(result, "output-y").missing, "Needs a variant that ran"));
}

}  // namespace
}  // namespace sawtooth

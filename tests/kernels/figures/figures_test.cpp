// The figures of every family, from hand-made results and sweeps.

#include "kernels/figures/figures.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/sweep_figures.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

Parameter chooser_of(const char* name, const char* unit) {
    return integer_parameter(name, "", Group::run, unit, 0, 0, 100, Step::linear, Renews::figures);
}

Family attention_like() {
    Family family;
    family.parameters = {chooser_of("drawn_batch", "sequence"), chooser_of("drawn_head", "head"),
                         chooser_of("drawn_channel", "channel")};
    family.arrays = {{.name = "o", .meaning = "", .dimensions = {"B", "H", "N", "D"}},
                     {.name = "lse", .meaning = "", .dimensions = {"B", "H", "N"}},
                     {.name = "state", .meaning = "", .dimensions = {"B", "D"}}};
    family.sequence_axis = "N";
    return family;
}

TEST_CASE("one index is drawn along every dimension except the sequence", "[figures]") {
    const Family family = attention_like();
    const LineChooser chooser{
        family, "token", {{"B", "drawn_batch"}, {"H", "drawn_head"}, {"D", "drawn_channel"}}};
    Parameters parameters = family.defaults();
    parameters.set("drawn_batch", int64_t{1});
    parameters.set("drawn_head", int64_t{9});  // limited to the last one, because there are fewer
    parameters.set("drawn_channel", int64_t{2});
    const auto o = chooser.line(Array::zeros("o", Dtype::f32, {2, 3, 5, 4}), parameters);
    REQUIRE(o);
    CHECK(o->length == 5);
    CHECK(o->index(0) == (1 * 3 + 2) * 5 * 4 + 2);
    CHECK(o->index(4) == o->index(0) + 4 * 4);
    CHECK(o->title("o") == "o, sequence 1, head 2, channel 2");
    const auto lse = chooser.line(Array::zeros("lse", Dtype::f32, {2, 3, 5}), parameters);
    REQUIRE(lse);
    CHECK(lse->index(4) == (1 * 3 + 2) * 5 + 4);
    CHECK(lse->words == "sequence 1, head 2");
    CHECK_FALSE(chooser.line(Array::zeros("state", Dtype::f32, {2, 4}), parameters));
    CHECK_FALSE(chooser.line(Array::zeros("tnt/o", Dtype::f32, {2, 4}), parameters));
}

TEST_CASE("cells of a heat map are centred on whole numbers", "[figures]") {
    const HeatMap map = heat_map("gate", 3, 8, 0, 64);
    CHECK(map.x_low == 63.5);
    CHECK(map.x_high == 71.5);
    CHECK(map.y_low == -0.5);
    CHECK(map.y_high == 2.5);
}

VariantResult timed(const char* name, int index, double median) {
    VariantResult variant;
    variant.name = name;
    variant.index = index;
    variant.time = TimeStatistics{median, median - 1, median + 1, {}};
    return variant;
}

// A sweep in which variant "slow" runs everywhere, but "fast", the first of the family, not in the first
// cell.
SweepResult swept(std::vector<SweepAxis> axes) {
    SweepResult sweep{{"", {}, std::move(axes)}, {}, true};
    for (size_t i = 0; i < sweep.sweep.cells(); ++i) {
        Result result;
        if (i > 0) result.variants.push_back(timed("fast", 0, 10.0 * static_cast<double>(i)));
        result.variants.push_back(timed("slow", 1, 100));
        sweep.cells.push_back({sweep.sweep.cell(i), "", std::make_shared<const Result>(std::move(result))});
    }
    return sweep;
}

TEST_CASE("one curve per variant, in the order of the family, with points that set the parameter",
          "[figures]") {
    const auto lines =
        timed_curves_of(swept({{"chunk", {int64_t{16}, int64_t{32}, int64_t{64}}}}), median_us);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].label == "fast");
    CHECK(lines[0].x == std::vector<double>{32, 64});
    CHECK(lines[0].y == std::vector<double>{10, 20});
    CHECK(lines[0].sets.parameter == "chunk");
    CHECK(lines[0].sets.values == lines[0].x);
    CHECK(lines[1].x == std::vector<double>{16, 32, 64});
}

TEST_CASE("values that are not finite are told unless a right exact variant has them too", "[figures]") {
    Result result;
    result.main_output = "y";
    const auto add = [&](const char* name, bool exact, int64_t nonfinite, double error, Verdict verdict) {
        VariantResult variant;
        variant.name = name;
        variant.exact = exact;
        variant.errors = {{"y", error, 1e-7, nonfinite, {}, {}}};
        variant.verdicts = {{.output = "y", .verdict = verdict}};
        result.variants.push_back(variant);
    };
    add("sequential", true, 5, 0, Verdict::right);
    add("fused", false, 8, 0.5, Verdict::right);
    CHECK(words_of_errors(result, "y") ==
          "fused has 3 values that are not finite. sequential is within 0, fused elsewhere within 0.5 of the "
          "float64 reference.");
    CHECK(has_diverged(result, result.variants[1]));
    result.variants[1].errors[0].nonfinite = 5;
    CHECK_FALSE(contains(words_of_errors(result, "y"), "not finite"));
    CHECK_FALSE(has_diverged(result, result.variants[1]));
    // A wrong variant is no measure of what must be infinite.
    result.variants[0].verdicts[0].verdict = Verdict::wrong;
    CHECK(contains(words_of_errors(result, "y"), "sequential has 5 values that are not finite. "));
}

TEST_CASE("exact variants and approximations are told apart in words on errors", "[figures]") {
    Result result;
    for (const bool exact : {true, true, false}) {
        VariantResult variant;
        variant.exact = exact;
        variant.errors = {{"y", exact ? 1e-6 : 4.8, 1e-7, 0, {}, {}}};
        result.variants.push_back(variant);
    }
    CHECK(words_of_errors(result, "y") ==
          "2 exact variants are within 1e-06, 1 approximation within 4.8 of the float64 reference.");
    result.variants[2].exact = true;
    CHECK(words_of_errors(result, "y") == "All 3 variants are within 4.8 of the float64 reference.");
}

TEST_CASE("points of wrong results say what is wrong", "[figures]") {
    SweepResult sweep = swept({{"chunk", {int64_t{16}, int64_t{32}, int64_t{64}}}});
    for (size_t i = 1; i < 3; ++i) {
        Result result = *sweep.cells[i].result;
        const Verdict verdict = i == 1 ? Verdict::right : Verdict::wrong;
        result.variants[0].verdicts = {
            {.output = "y", .verdict = verdict, .judged = 1000, .elements = i == 1 ? 0 : 12}};
        sweep.cells[i].result = std::make_shared<const Result>(std::move(result));
    }
    const auto lines = timed_curves_of(sweep, median_us);
    CHECK(lines[0].wrong == std::vector<std::string>{"", "y is wrong: 12 of 1,000 elements"});
    CHECK(lines[1].wrong.empty());
}

TEST_CASE("one plot shows the errors by position for every value of a parameter", "[figures]") {
    SweepResult sweep = swept({{"compensated", {false, true}}});
    for (SweepCell& cell : sweep.cells) {
        Result result = *cell.result;
        result.variants.back().errors = {{"y", 1.0, 1e-7, 0, {}, {1, 2, 3}}};
        cell.result = std::make_shared<const Result>(std::move(result));
    }
    const Figure figure = error_by_value(sweep, "both", "Both", "", place_axis("position", 3));
    REQUIRE(figure.marks.size() == 2);
    const Line &plain = std::get<Line>(figure.marks[0]), &compensated = std::get<Line>(figure.marks[1]);
    CHECK(plain.label == "slow");
    CHECK(compensated.label == "slow, compensated");
    CHECK_FALSE(plain.ink.dashed);
    CHECK(compensated.ink.dashed);
    CHECK(compensated.ink.index == plain.ink.index);
    CHECK(plain.y == std::vector<double>{1, 2, 3});
}

TEST_CASE("chosen rows of a reference are points, and the errors have no gaps between them", "[figures]") {
    // Positions 1, 4 and 6 of 8, and one of another sequence.
    Array reference = Array::zeros("y", Dtype::f64, {4});
    reference.rows = std::make_shared<const ChosenRows>(ChosenRows{{2, 8}, {1, 4, 6, 9}});
    Result result;
    result.variants = {timed("exact", 0, 1), timed("rough", 1, 1)};
    for (VariantResult& variant : result.variants) variant.outputs = {Array::zeros("y", Dtype::f32, {2, 8})};
    result.variants[1].outputs[0].as<float>()[4] = 0.5f;
    result.variants[1].errors = {{"y", 0.5, {}, 0, {}, {NAN, 0.25f, NAN, NAN, 0.5f, NAN, 0.125f, NAN}}};
    const DrawnLine line{.first = 0, .step = 1, .length = 8, .place = "token"};

    const Figure output = output_figure(result, {}, reference, line);
    const Line& points = std::get<Line>(output.marks[0]);
    CHECK(points.ink.role == Ink::Role::reference);
    CHECK(points.markers);
    CHECK(points.x == std::vector<double>{1, 1, 4, 4, 6, 6});
    CHECK(points.y[2] == 0);
    CHECK(std::isnan(points.y[3]));
    CHECK(std::get<Line>(output.marks[1]).x.size() == 8);  // an output has all positions
    CHECK(output.caption.ends_with("The reference has 3 of 8 positions here."));

    const Figure largest = error_figure(result, {}, reference, line, ErrorOf::all_lines);
    CHECK(std::get<Line>(largest.marks[0]).x == std::vector<double>{1, 4, 6});
    CHECK(std::get<Line>(largest.marks[0]).y == std::vector<double>{0.25, 0.5, 0.125});
    CHECK(largest.caption.ends_with("The reference has 4 of 16 rows."));
    const Figure drawn = error_figure(result, {}, reference, line, ErrorOf::drawn_line);
    CHECK(std::get<Line>(drawn.marks[1]).x == std::vector<double>{1, 4, 6});
    CHECK(std::get<Line>(drawn.marks[1]).y == std::vector<double>{0, 0.5, 0});
}

TEST_CASE("a figure of errors by position says that none were kept", "[figures]") {
    const Array reference = Array::zeros("y", Dtype::f64, {8});
    const DrawnLine line{.first = 0, .step = 1, .length = 8, .place = "token"};
    Result result;
    result.variants = {timed("first", 0, 1), timed("second", 1, 1)};
    for (VariantResult& variant : result.variants) variant.errors = {{"y", 0.5, {}, 0, {}, {}}};
    const Figure none = error_figure(result, {}, reference, line, ErrorOf::all_lines);
    CHECK(none.marks.empty());
    CHECK(none.missing == "Error of y by token. Errors by position were not kept for these settings.");
    result.variants[1].errors[0].by_position.assign(8, 0.5f);
    const Figure one = error_figure(result, {}, reference, line, ErrorOf::all_lines);
    CHECK(one.marks.size() == 1);
    CHECK(one.missing.empty());
}

TEST_CASE("a mark that is no data needs a figure with data", "[figures]") {
    const auto marks_of = [](int64_t count, int64_t step, bool has_data, const View& view) {
        Figure figure = new_figure("a", Place::outputs, "", "", place_axis("token", count), {});
        if (has_data) figure.marks.push_back(Line{"data", {}, {0, 1}, {0, 1}});
        add_steps(figure, count, step, "step", view);
        add_beside_data(figure, Rule{Rule::Across::y, 3, "goal", {}});
        return figure.marks;
    };
    CHECK(marks_of(64, 16, false, {}).empty());
    const std::vector<Mark> marks = marks_of(64, 16, true, {});
    REQUIRE(marks.size() == 5);  // data, 16, 32, 48 and the goal
    CHECK(std::get<Rule>(marks[1]).at == 16);
    CHECK(std::get<Rule>(marks[3]).at == 48);
    CHECK(marks_of(4096, 16, true, {}).size() == 2);  // no room for 255 steps
    View view;
    view.visible["token"] = {100, 140};
    CHECK(marks_of(4096, 16, true, view).size() == 4);  // 112 and 128
}

TEST_CASE("a line that would hide an earlier one is dashed over it", "[figures]") {
    const Array reference = Array::zeros("y", Dtype::f64, {8});
    Result result;
    result.variants = {timed("frozen", 0, 1), timed("scanned", 1, 1), timed("other", 2, 1)};
    for (size_t v = 0; v < 3; ++v) {
        Array y = Array::zeros("y", Dtype::f32, {8});
        for (size_t i = 0; i < 8; ++i) y.as<float>()[i] = static_cast<float>(1 + i) * (v == 2 ? 2.0f : 1.0f);
        y.as<float>()[0] += v == 1 ? 1e-4f : 0.0f;
        result.variants[v].outputs = {std::move(y)};
    }
    const Figure figure =
        output_figure(result, {}, reference, {.first = 0, .step = 1, .length = 8, .place = "token"});
    REQUIRE(figure.marks.size() == 4);
    CHECK_FALSE(std::get<Line>(figure.marks[1]).ink.dashed);
    CHECK(std::get<Line>(figure.marks[2]).ink.dashed);
    CHECK_FALSE(std::get<Line>(figure.marks[3]).ink.dashed);
}

TEST_CASE("the line of the copy shows its bytes, time and rate", "[figures]") {
    Result result;
    result.variants = {timed("slow", 1, 100)};
    CHECK(times_figure(result).marks.size() == 1);
    result.copy = Copy{524288, {.median = 25.9}};
    const Figure figure = times_figure(result);
    const Rule& rule = std::get<Rule>(figure.marks.back());
    CHECK(rule.at == 25.9);
    CHECK(rule.label == "copy of 512 KiB: 25.9 us, 20 GB/s");
}

TEST_CASE("launches in a bar of times are as long as recorded, and the rest lies between them", "[figures]") {
    Result result;
    result.variants = {timed("many", 0, 100)};
    VariantResult& many = result.variants.front();
    LaunchInfo info;
    info.name = "step";
    for (const double start : {0.0, 80.0}) {
        LaunchRecord& launch = many.launches.emplace_back();
        launch.info = std::make_shared<const LaunchInfo>(info);
        launch.start_us = start;
        launch.duration_us = 20;
    }
    many.launch_count = 4;  // of which two were recorded
    using Segments = std::vector<std::pair<std::string, double>>;
    const auto segments = [&] {
        const Figure figure = times_figure(result);
        Segments all;
        for (const Bar::Segment& part : std::get<Bars>(figure.marks.front()).bars.front().segments)
            all.emplace_back(part.label, part.length);
        return all;
    };
    CHECK(segments() == Segments{{"step", 80}, {"between launches", 20}});
    many.time->median = 60;  // less than the launches take
    CHECK(segments() == Segments{{"step", 60}});
}

TEST_CASE("what does a part of the work is called the fastest only where nothing does all", "[figures]") {
    Result result;
    result.work.bytes = 100;
    result.variants = {timed("forward", 0, 10), timed("both", 1, 50)};
    for (VariantResult& variant : result.variants) {
        variant.outputs.emplace_back().name = "y";
        variant.verdicts.emplace_back().verdict = Verdict::right;
        variant.work.bytes = variant.index == 0 ? 60 : 100;
    }
    REQUIRE(fastest_right(result).size() == 1);
    CHECK(fastest_right(result).front()->name == "both");
    result.variants.pop_back();
    CHECK(fastest_right(result).size() == 1);
}

TEST_CASE("bars are broken where they are longer than half of them, not where one is short", "[figures]") {
    Result result;
    result.variants = {timed("a", 0, 5), timed("b", 1, 117), timed("c", 2, 127), timed("d", 3, 130)};
    CHECK_FALSE(std::get<Bars>(times_figure(result).marks.front()).most);
    result.variants[2].time->median = 40000;
    CHECK(std::get<Bars>(times_figure(result).marks.front()).most == 20 * 117);
}

TEST_CASE("much longer bars are broken, on an axis that stays linear whatever the ratio", "[figures]") {
    Result result;
    for (const double longest : {1900.0, 2100.0, 40000.0}) {
        result.variants = {timed("fast", 0, 100), timed("slow", 1, longest)};
        result.copy.reset();
        Figure figure = times_figure(result);
        CHECK(figure.x.scale == Scale::linear);
        CHECK(figure.x.minimum == 0.0);
        CHECK(std::get<Bars>(figure.marks.front()).most.has_value() == (longest > 2000));
        CHECK(figure.x.maximum.value_or(2000) == 2000);
        result.copy = Copy{1e6, {.median = 3000}};
        figure = times_figure(result);
        CHECK(figure.x.maximum.value_or(3300) == Approx(3300));  // the limit stays in sight
    }
}

TEST_CASE("an unstable time has a badge at its point, a stable one has none", "[figures]") {
    const auto swept_with = [](double q3) {
        SweepResult sweep = swept({{"chunk", {int64_t{16}, int64_t{32}}}});
        for (SweepCell& cell : sweep.cells) {
            auto result = std::make_shared<Result>(*cell.result);
            for (VariantResult& variant : result->variants) {
                variant.time = TimeStatistics{.median = 100, .q1 = 90, .q3 = 110};
                if (&cell == &sweep.cells.back()) variant.time->q3 = q3;
            }
            cell.result = std::move(result);
        }
        Figure figure;
        add_times(figure, sweep, timed_curves_of(sweep, median_us));
        return std::get<Line>(figure.marks.back());
    };
    CHECK(swept_with(110).unstable.empty());
    CHECK(swept_with(270).unstable == std::vector<std::string>{"", "unstable: 3x"});
}

TEST_CASE("only sweeps whose cells have the same work say which is fastest, searches too", "[figures]") {
    const auto [group, renews, says] =
        GENERATE(table<Group, Renews, bool>({{Group::tiling, Renews::kernels, true},
                                             {Group::tiling, Renews::inputs, true},
                                             {Group::algorithm, Renews::kernels, true},
                                             {Group::algorithm, Renews::inputs, false},
                                             {Group::shape, Renews::inputs, false}}));
    const bool search = GENERATE(false, true);
    const auto row = [group = group, renews = renews](const char* name) {
        return integer_parameter(name, "", group, "", 16, 1, 1024, Step::powers_of_two, renews);
    };
    Family family;
    family.parameters = {row("chunk"), row("d")};
    family.variants = {Variant{.name = "slow"}};
    SweepResult sweep = swept({{"chunk", {int64_t{16}, int64_t{32}}}});
    sweep.sweep.search = search;
    for (SweepCell& cell : sweep.cells) {
        auto judged = std::make_shared<Result>(*cell.result);
        for (VariantResult& variant : judged->variants)
            variant.verdicts = {{.output = "y", .verdict = Verdict::right}};
        cell.result = std::move(judged);
    }
    CHECK(contains(sweep_figures(sweep, family).front().caption, "Fastest: ") == says);
    family.parameters[0].group = Group::tiling;
    sweep.sweep.axes[0].also = {"d"};  // moves with chunk
    CHECK(contains(sweep_figures(sweep, family).front().caption, "Fastest: ") == says);

    SweepResult map = swept({{"chunk", {int64_t{16}, int64_t{32}}}, {"d", {int64_t{16}, int64_t{32}}}});
    map.sweep.search = search;
    const Figure figure = sweep_figures(map, family).front();
    // Equal times: each may be the least, and a frame around each would say nothing.
    CHECK(std::get<HeatMap>(figure.marks.front()).framed.size() == (says ? 1 : 0));
    CHECK(contains(figure.caption, "Least: ") == says);
    CHECK(contains(figure.caption, "cannot tell that any other cell is slower") == says);
    for (size_t i = 1; i < map.cells.size(); ++i) map.cells[i].result = nullptr;
    const Figure one = sweep_figures(map, family).front();  // the only one is no fastest one
    CHECK(std::get<HeatMap>(one.marks.front()).framed.empty());
    CHECK_FALSE(contains(one.caption, "Fastest: "));
}

TEST_CASE("the second axis gives one curve per value; names are at 0, 1, 2", "[figures]") {
    const Parameter op = choice_parameter("op", "", Group::algorithm, "sum", {"sum", "max"}, Renews::inputs);
    const SweepResult sweep = swept({{"op", {"sum", "max"}}, {"length", {int64_t{64}, int64_t{128}}}});
    Family family;
    family.parameters = {op};
    const auto figures = sweep_figures(sweep, family);
    REQUIRE(figures.size() == 2);
    const Figure& time = figures.front();
    CHECK(time.id == "sweep-op-time");
    CHECK(time.title == "Time against op");
    CHECK(time.x.categories == std::vector<std::string>{"sum", "max"});
    REQUIRE(time.marks.size() == 8);  // two variants at two lengths, a band under each line
    const Band& band = std::get<Band>(time.marks[0]);
    const Line& line = std::get<Line>(time.marks[1]);
    CHECK(line.label == "fast, length 64");
    CHECK(line.x == std::vector<double>{1});
    CHECK(line.sets.values.empty());
    CHECK(band.low == std::vector<double>{line.y[0] - 1});
    CHECK(band.high == std::vector<double>{line.y[0] + 1});
    CHECK(std::get<Line>(time.marks[7]).label == "slow, length 128");
    CHECK(std::get<Line>(time.marks[7]).ink.dashed);
    CHECK_FALSE(figures.back().missing.empty());  // errors are unknown
}

}  // namespace
}  // namespace sawtooth

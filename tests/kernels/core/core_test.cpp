#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/ceilings.h"
#include "kernels/core/in_parallel.h"
#include "kernels/core/parameter.h"
#include "kernels/core/some_rows.h"
#include "kernels/core/sweep.h"
#include "kernels/core/table.h"
#include "kernels/figures/series.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

TEST_CASE("a parameter parses what it accepts and refuses the rest in words", "[core]") {
    const Parameter length = integer_parameter("length", "Positions.", Group::shape, "positions", 8, 1, 100,
                                               Step::linear, Renews::inputs);
    CHECK(*length.parse("100") == Value(int64_t{100}));
    for (const char* wrong : {"0", "101", "1.5", "", "12x", "0x10", "8 8", "99999999999999999999"}) {
        const auto outcome = length.parse(wrong);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().exit_code() == 2);
        CHECK(outcome.error().text.find("length") != std::string::npos);
        CHECK(outcome.error().text.find("1 to 100") != std::string::npos);
    }
    Parameter hidden = length;
    hidden.word = "auto";
    CHECK(*hidden.parse("auto") == Value("auto"));
    CHECK_FALSE(length.parse("auto"));

    const Parameter block =
        choice_parameter("block", "Rows.", Group::tiling, "auto", {"auto", int64_t{128}}, Renews::kernels);
    CHECK(*block.parse("128") == Value(int64_t{128}));
    CHECK(block.parse("129").error().text.find("auto, 128") != std::string::npos);

    Parameter levels = length;
    levels.type = Type::list;
    CHECK(*levels.parse("1,8,64") == Value(std::vector<int64_t>{1, 8, 64}));
    CHECK_FALSE(levels.parse("1,,8"));
    CHECK_FALSE(levels.parse("1,800"));

    const Parameter scale = real_parameter("scale", "Factor.", Group::numerics, 1, 0, 2, Renews::kernels);
    CHECK(*scale.parse("0.5") == Value(0.5));
    for (const char* wrong : {"nan", "inf", "3", "x"}) CHECK_FALSE(scale.parse(wrong));
}

TEST_CASE("chosen rows of an array have the shape of the whole, and are listed by their indices", "[core]") {
    Array some = Array::zeros("o", Dtype::f64, {3, 2});
    CHECK(some.whole_shape() == Shape{3, 2});
    some.rows = std::make_shared<const ChosenRows>(ChosenRows{{2, 4}, {0, 3, 6}});
    CHECK(some.whole_shape() == Shape{2, 4, 2});
    const Array list = listed("rows", *some.rows);
    CHECK(list.shape == Shape{3, 2});
    CHECK(std::ranges::equal(list.as<int32_t>(), std::vector<int32_t>{0, 0, 0, 3, 1, 2}));
}

TEST_CASE("values are written as they are parsed", "[core]") {
    CHECK(to_text(Value(true)) == "true");
    CHECK(to_text(Value(int64_t{-3})) == "-3");
    CHECK(to_text(Value(0.0625)) == "0.0625");
    CHECK(to_text(Value("auto")) == "auto");
    CHECK(to_text(Value(std::vector<int64_t>{1, 8})) == "1,8");
}

TEST_CASE("the cells of a sweep run row by row, the last axis fastest", "[core]") {
    const Sweep sweep{"", {}, {{"a", {int64_t{1}, int64_t{2}}}, {"b", {"x", "y", "z"}}}};
    REQUIRE(sweep.cells() == 6);
    CHECK(sweep.cell(0) == std::vector<Value>{int64_t{1}, "x"});
    CHECK(sweep.cell(2) == std::vector<Value>{int64_t{1}, "z"});
    CHECK(sweep.cell(3) == std::vector<Value>{int64_t{2}, "x"});
}

TEST_CASE("a reduced series keeps every peak of the range in sight", "[core]") {
    std::vector<double> values(100000, 0.0);
    values[31415] = 7;
    values[31416] = -9;
    const auto value_at = [&](int64_t i) { return values[static_cast<size_t>(i)]; };
    const Series all = reduce(100000, {}, "position", value_at);
    CHECK(all.x.size() <= 4096);
    CHECK(*std::max_element(all.y.begin(), all.y.end()) == 7);
    CHECK(*std::min_element(all.y.begin(), all.y.end()) == -9);
    CHECK(std::is_sorted(all.x.begin(), all.x.end()));

    View view;
    view.visible["position"] = {31400, 31420};
    const Series near = reduce(100000, view, "position", value_at);
    CHECK(near.x.front() == 31399);
    CHECK(near.x.back() == 31421);
    CHECK(near.y[31415 - 31399] == 7);
    CHECK(reduce(0, {}, "position", value_at).x.empty());
}

TEST_CASE("a column of a reduced series is NaN only where all of it is", "[core]") {
    View view;
    view.columns = 10;
    const Series series = reduce(1000, view, "", [](int64_t i) {
        return i < 500 ? NAN : i % 7 == 0 ? NAN : 1.0;
    });
    for (size_t i = 0; i < series.x.size(); ++i) CHECK(std::isnan(series.y[i]) == (series.x[i] < 500));
}

TEST_CASE("work in parallel does each part once and hands on what it throws", "[core]") {
    for (const int64_t count : {0, 1, 2, 1000}) {
        std::vector<std::atomic<int>> done(static_cast<size_t>(count));
        in_parallel(count, [&](int64_t i) { ++done[static_cast<size_t>(i)]; });
        for (const auto& times : done) CHECK(times == 1);
    }
    CHECK_THROWS_AS(in_parallel(100, [](int64_t i) { i == 70 ? throw std::bad_alloc() : void(); }),
                    std::bad_alloc);
}

TEST_CASE("tables quote what their format would misread", "[core]") {
    Table table;
    table.columns = {{"name", "", false}, {"time", "us", true}};
    table.rows = {{"a,\"b\"", "1"}, {"tab\there", "22"}};
    CHECK(table.csv() == "name,time (us)\r\n\"a,\"\"b\"\"\",1\r\ntab\there,22\r\n");
    CHECK(table.tsv() == "name\ttime (us)\na,\"b\"\t1\ntab here\t22\n");
    CHECK(table.markdown().find("| time (us) |") != std::string::npos);
}

TEST_CASE("times and bytes come in the unit that suits them", "[core]") {
    CHECK(short_time(12.34) == "12.3 us");
    CHECK(short_time(4560) == "4.56 ms");
    CHECK(short_time(2.5e6) == "2.5 s");
    CHECK(short_bytes(512) == "512 B");
    CHECK(short_bytes(1.5 * 1024 * 1024) == "1.5 MiB");
    CHECK(short_bytes(1020 * 1024.0) == "1020 KiB");
    CHECK(short_bytes(0x1p63) == "8 EiB");
}

TEST_CASE("no share of a limit above 105 % is told", "[core]") {
    CHECK(share_words(83, 100, "copy bandwidth") == "83 % of copy bandwidth");
    CHECK(share_words(104, 100, "peak") == "104 % of peak");
    CHECK(share_words(106, 100, "peak") == "above peak");
    CHECK(share_words(1, 0, "peak") == "above peak");
    CHECK(*share_of_limit(50, 100) == 0.5);
    CHECK_FALSE(share_of_limit(143, 100));
}

TEST_CASE("medians and quartiles are those of NumPy's percentile", "[profiling]") {
    const TimeStatistics even = statistics_of({4, 1, 3, 2});
    CHECK(even.median == 2.5);
    CHECK(even.q1 == 1.75);
    CHECK(even.q3 == 3.25);
    CHECK(even.samples == std::vector<double>{4, 1, 3, 2});
    CHECK(statistics_of({5}).q1 == 5);
}

// If rows have 2^21 numbers, two of them are computed.
TEST_CASE("of many rows the first and the last are computed, as rows of the whole", "[core]") {
    Array x = Array::uninitialised("x", Dtype::f32, {2, 3, 2});
    for (size_t i = 0; i < 12; ++i) x.as<float>()[i] = static_cast<float>(i);
    const Array weight = Array::zeros("weight", Dtype::f32, {5});
    const auto twice = [](const Arrays& inputs, int64_t rows) -> Outcome<Arrays> {
        CHECK(find(inputs, "weight")->shape == Shape{5});
        Array y = Array::uninitialised("y", Dtype::f64, {1, rows, 2});
        for (size_t i = 0; i < y.as<double>().size(); ++i) y.as<double>()[i] = 2 * inputs[0].as<float>()[i];
        return Arrays{y};
    };
    const auto some = compute_some_rows({x, weight}, {"weight"}, {2, 3}, 1 << 21, twice);
    REQUIRE(some);
    const Array& y = some->front();
    REQUIRE(y.rows);
    CHECK(y.rows->places == std::vector<int64_t>{0, 5});
    CHECK(y.shape == Shape{2, 2});
    CHECK(y.whole_shape() == Shape{2, 3, 2});
    CHECK(y.value(1) == 2.0);
    CHECK(y.value(3) == 22.0);
    const auto all = compute_some_rows({x, weight}, {"weight"}, {2, 3}, 2, twice);
    REQUIRE(all);
    CHECK_FALSE(all->front().rows);
    CHECK(all->front().shape == Shape{2, 3, 2});
    CHECK(all->front().value(11) == 22.0);
}

}  // namespace
}  // namespace sawtooth

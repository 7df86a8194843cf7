// Ticks have round numbers, and there are enough of them at every size.

#include <cmath>
#include <limits>

#include "tests/kit/catch.h"
#include "viz/axis.h"
#include "viz/canvas_svg.h"
#include "viz/layout.h"

using namespace sawtooth;

TEST_CASE("ticks of log2 axes are powers of two for any range", "[viz]") {
    for (double high : {64.0, 8192.0, 1e9})
        for (int most : {3, 6, 12}) {
            const auto found = ticks(Scale::log2, {1, high}, most);
            CHECK(found.size() >= 2);
            CHECK(found.size() <= static_cast<size_t>(most));
            for (const Tick& tick : found) CHECK(std::log2(tick.value) == std::round(std::log2(tick.value)));
        }
    CHECK(ticks(Scale::log2, {1, 65536}, 20).back().text == "64k");
    CHECK(ticks(Scale::log2, {0.25, 4}, 20).front().text == "1/4");
}

TEST_CASE("ticks of linear and decimal axes are round and have only the digits they need", "[viz]") {
    const auto texts = [](Scale scale, Range range, int most) {
        std::vector<std::string> found;
        for (const Tick& tick : ticks(scale, range, most)) found.push_back(tick.text);
        return found;
    };
    using Texts = std::vector<std::string>;
    CHECK(texts(Scale::linear, {0, 1}, 5) == Texts{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
    CHECK(texts(Scale::linear, {0, 2e6}, 4) == Texts{"0", "0.5M", "1.0M", "1.5M", "2.0M"});
    CHECK(texts(Scale::log10, {1e-7, 1e-3}, 5) == Texts{"1e-7", "1e-6", "1e-5", "1e-4", "0.001"});
    CHECK(texts(Scale::log10, {1, 20}, 6) == Texts{"1", "2", "5", "10", "20"});
    CHECK(ticks(Scale::linear, {std::numeric_limits<double>::quiet_NaN(), 1}, 5).empty());
}

TEST_CASE("large numbers are written in one way on every axis", "[viz]") {
    CHECK(ticks(Scale::log10, {1, 2e6}, 3).back().text == "1M");
    CHECK(ticks(Scale::log10, {1000, 200000}, 9).back().text == "200k");
    CHECK(ticks(Scale::log10, {1e-6, 1e6}, 12).back().text == "1e6");  // exponents at both ends
    CHECK(ticks(Scale::linear, {0, 40000}, 4).back().text == "40k");
    CHECK(ticks(Scale::log2, {1, 32768}, 20).back().text == "32k");
    // Zoomed in, numbers have all their digits.
    CHECK(ticks(Scale::linear, {524288, 524300}, 3).front().text == "524,290");
    CHECK(ticks(Scale::linear, {12000, 12000.6}, 7)[1].text == "12,000.1");
    CHECK(ticks(Scale::linear, {-12000.6, -12000}, 7)[0].text == "-12,000.6");
}

TEST_CASE("values that differ in the ninth digit get no ticks with nine digits", "[viz]") {
    Figure figure;
    Line line;
    line.x = {0, 1};
    line.y = {0.0215, 0.0215 * (1 + 1e-8)};
    figure.marks.emplace_back(line);
    const Bounds bounds = bounds_of(figure, {});
    CHECK(bounds.y.low < 0.0214);
    CHECK(bounds.y.high > 0.0216);
    std::get<Line>(figure.marks[0]).y[1] = 0.022;
    CHECK(bounds_of(figure, {}).y.low > 0.0214);
}

TEST_CASE("an axis whose data still comes ends at round numbers and moves rarely", "[viz]") {
    const auto bounds = [](Scale scale, const std::vector<double>& y) {
        Figure figure;
        figure.y = {.label = "y", .scale = scale, .growing = true};
        figure.marks.emplace_back(Line{"", {}, std::vector<double>(y.size(), 1.0), y});
        return bounds_of(figure, {}).y;
    };
    for (const double last : {40.0, 130.0, 999.0}) {
        const Range range = bounds(Scale::log10, {35, 120, last});
        CHECK(range.low == Approx(10));
        CHECK(range.high == Approx(1000));
    }
    CHECK(bounds(Scale::log10, {35, 1200}).high == Approx(10000));
    for (const double last : {0.11, 0.19}) {
        const Range range = bounds(Scale::linear, {0, 0.12, last});
        CHECK(range.low == 0);
        CHECK(range.high == Approx(0.2));
    }
    const Range single = bounds(Scale::log10, {50});
    CHECK(single.low < 50);
    CHECK(single.high > 50);
}

TEST_CASE("an axis of times has one unit, that of its ticks", "[viz]") {
    const Axis linear{.label = "time", .unit = "us"},
        logarithmic{.label = "time", .unit = "us", .scale = Scale::log10};
    CHECK(name_of(linear, {0, 800}) == "time (us)");
    CHECK(name_of(linear, {0, 4000}) == "time (ms)");
    CHECK(ticks(linear, {0, 4000}, 4).back().text == "4");
    CHECK(ticks(linear, {0, 4000}, 4).back().value == Approx(4000));
    CHECK(name_of(logarithmic, {10, 1e5}) == "time");
    CHECK(ticks(logarithmic, {10, 1e5}, 8).front().text == "10 us");
    CHECK(ticks(logarithmic, {10, 1e5}, 8).back().text == "100 ms");
    const auto narrow = ticks(logarithmic, {340.9, 342.1}, 6);
    REQUIRE(narrow.size() > 2);
    for (size_t i = 1; i < narrow.size(); ++i) CHECK(narrow[i].text != narrow[i - 1].text);
    CHECK(readout_words(1005.78, "us") == "1.006 ms");
    CHECK(place_words(14000.5, "us") == "14.0005 ms");
}

TEST_CASE("an axis of whole numbers has no ticks between them", "[viz]") {
    for (const Scale scale : {Scale::linear, Scale::log2, Scale::log10})
        for (const double high : {2.0, 3.0, 6.0, 40.0}) {
            const auto found = ticks(Axis{.label = "token", .scale = scale, .whole = true}, {1, high}, 12);
            CHECK(found.size() >= 2);
            for (const Tick& tick : found) CHECK(tick.value == std::round(tick.value));
        }
}

TEST_CASE("every numeric axis has three separate ticks at any size and range", "[viz]") {
    const SvgCanvas canvas;
    struct Axes {
        Scale x, y;
        Range at_x, at_y;
    };
    const Axes axes = GENERATE(Axes{Scale::log2, Scale::log10, {1, 1024}, {2e-7, 1.4}},
                               Axes{Scale::log2, Scale::log10, {16, 512}, {120, 3100}},
                               Axes{Scale::linear, Scale::log10, {0, 1023}, {1e-9, 2e-3}},
                               Axes{Scale::log10, Scale::log10, {2e-7, 0.9}, {210, 790}},
                               Axes{Scale::linear, Scale::linear, {0, 1140}, {0, 100}},
                               Axes{Scale::linear, Scale::log10, {0, 4095}, {9.6e-4, 0.31}},
                               Axes{Scale::log10, Scale::linear, {31, 17000}, {-1.3, 1.2}});
    const float width = GENERATE(264.0f, 320.0f, 420.0f, 900.0f);
    const float height = GENERATE(110.0f, 150.0f, 240.0f);
    Figure figure;
    figure.x = {.label = "chunk", .scale = axes.x};
    figure.y = {.label = "time", .unit = "us", .scale = axes.y};
    figure.marks = {Line{"a", {}, {axes.at_x.low, axes.at_x.high}, {axes.at_y.low, axes.at_y.high}, true}};
    const Layout layout = lay_out(canvas, figure, {0, 0, width, height}, {});
    CAPTURE(width, height, axes.at_x.low, axes.at_x.high, axes.at_y.low, axes.at_y.high);
    CHECK(layout.x_ticks.size() >= 3);
    CHECK(layout.y_ticks.size() >= 3);
    for (size_t i = 1; i < layout.x_ticks.size(); ++i) {
        const Tick &one = layout.x_ticks[i - 1], &other = layout.x_ticks[i];
        CHECK(layout.frame.at_x(other.value) - layout.frame.at_x(one.value) >
              (canvas.text_width(one.text) + canvas.text_width(other.text)) / 2 + 4);
    }
    for (size_t i = 1; i < layout.y_ticks.size(); ++i)
        CHECK(layout.frame.at_y(layout.y_ticks[i - 1].value) - layout.frame.at_y(layout.y_ticks[i].value) >
              11);
}

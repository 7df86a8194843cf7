// The figure of timed repeats, made from invented ones.

#include <cmath>
#include <limits>

#include "profiling/figures.h"
#include "profiling/measure.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "viz/figure_csv.h"

namespace {

using namespace sawtooth;
using figure_facts::line_named;
using figure_facts::marks_of;

VariantResult repeated(const std::string& name, int index, std::vector<double> samples) {
    VariantResult variant;
    variant.name = name;
    variant.index = index;
    variant.time = statistics_of(std::move(samples));
    return variant;
}

// 1 to `count` times `us`, around a median of their middle.
std::vector<double> evenly(int count, double us) {
    std::vector<double> samples;
    for (int i = 1; i <= count; ++i) samples.push_back(i * us);
    return samples;
}

TEST_CASE("every repeat is a point at its distance to the median, the first on top", "[profiling][samples]") {
    Result result;
    result.variants = {repeated("fast", 0, {9, 10, 12}), repeated("slow", 3, {300, 200, 400})};
    const Figure figure = samples_figure(result);
    CHECK(figure.id == "samples");
    CHECK(figure.place == Place::times);
    CHECK(figure.y.categories == std::vector<std::string>{"slow, 300 us", "fast, 10 us"});  // upwards
    const auto lines = marks_of<Line>(figure);
    REQUIRE(lines.size() == 2);
    const Line& fast = lines[1];
    CHECK_FALSE(fast.joined);
    REQUIRE(fast.x.size() == 3);
    CHECK(fast.x[0] == Approx(-10));
    CHECK(fast.x[1] == Approx(0));
    CHECK(fast.x[2] == Approx(20));
    CHECK(fast.y[0] > fast.y[1]);
    CHECK(fast.y[1] > fast.y[2]);
    for (const double y : fast.y) CHECK(std::lround(y) == 1);
    CHECK(lines[0].ink == Ink{Ink::Role::variant, 3});
    CHECK(marks_of<Band>(figure).size() == 2);  // the quartiles; too few repeats for a histogram
    CHECK(contains(to_csv(figure), "\"fast, 10 us\""));
    CHECK(contains(figure.caption, "The quartiles of slow are furthest apart"));
}

TEST_CASE("disturbed repeats are crosses, and the caption counts them", "[profiling][samples]") {
    Result result;
    result.variants = {repeated("only", 0, {9, 10, 12, 11})};
    CHECK_FALSE(contains(samples_figure(result).caption, "Crosses"));
    result.variants[0].time->disturbed = {2, 77, -1};  // only the first exists
    const Figure figure = samples_figure(result);
    const auto lines = marks_of<Line>(figure);
    REQUIRE(lines.size() == 2);
    CHECK(line_named(lines, "").x.size() == 3);
    const Line& disturbed = line_named(lines, "disturbed");
    CHECK(disturbed.ink.dashed);
    REQUIRE(disturbed.x.size() == 1);
    CHECK(disturbed.x[0] == Approx(100 * (12 / 10.5 - 1)));
    CHECK(contains(figure.caption, "a thread of the run waited for a core in 1 of 4 repeats"));
    result.backend = Backend::cuda;
    CHECK(contains(samples_figure(result).caption, "the clock of the GPU changed in 1 of 4 repeats"));
}

TEST_CASE("from 30 repeats on a histogram counts all of those in sight", "[profiling][samples]") {
    Result result;
    result.variants = {repeated("only", 0, evenly(29, 10))};
    CHECK(marks_of<Band>(samples_figure(result)).size() == 1);
    result.variants = {repeated("only", 0, evenly(200, 10))};
    const Figure figure = samples_figure(result);
    const auto bands = marks_of<Band>(figure);
    REQUIRE(bands.size() == 2);
    const Band& histogram = bands[0];
    CHECK(histogram.x.front() == Approx(*figure.x.minimum));
    CHECK(histogram.x.back() == Approx(*figure.x.in_sight));
    // Even repeats fill even bins, except at both ends.
    const double most = *std::max_element(histogram.high.begin(), histogram.high.end());
    CHECK(most == Approx(histogram.low[0] + 0.36));
    for (size_t i = 4; i + 4 < histogram.x.size(); ++i)
        CHECK(histogram.high[i] - histogram.low[i] > 0.36 * 0.8);
    for (const double y : line_named(marks_of<Line>(figure), "").y) CHECK(y < histogram.low[0]);
}

TEST_CASE("much longer repeats are out of sight at first, and the caption says so", "[profiling][samples]") {
    Result result;
    std::vector<double> samples(20, 100);
    for (size_t i = 0; i < 10; ++i) samples[i] = 101;
    result.variants = {repeated("only", 0, samples)};
    CHECK_FALSE(contains(samples_figure(result).caption, "beyond"));
    samples[3] = 500;
    result.variants = {repeated("only", 0, samples)};
    const Figure figure = samples_figure(result);
    CHECK(*figure.x.in_sight < 10);
    CHECK_FALSE(figure.x.maximum);
    CHECK(contains(figure.caption, "1 repeat is beyond the right end, up to +39"));
}

TEST_CASE("very many repeats are thinned to a few thousand points", "[profiling][samples]") {
    Result result;
    result.variants = {repeated("only", 0, evenly(100000, 1))};
    const size_t points = line_named(marks_of<Line>(samples_figure(result)), "").x.size();
    CHECK(points <= 2048);
    CHECK(points > 1000);
}

TEST_CASE("without repeats the figure of repeats says how to get it, and odd times do no harm",
          "[profiling][samples]") {
    Result result;
    CHECK(contains(samples_figure(result).missing, "several repeats"));
    result.variants = {repeated("only", 0, {10})};
    CHECK(samples_figure(result).marks.empty());
    result.variants = {repeated("zero", 0, {0, 0, 0})};
    CHECK(samples_figure(result).marks.empty());
    result.variants = {repeated("equal", 0, std::vector<double>(50, 7))};
    const Figure equal = samples_figure(result);
    CHECK_FALSE(equal.marks.empty());
    CHECK(*equal.x.minimum < *equal.x.in_sight);
    result.variants[0].time->samples[3] = std::numeric_limits<double>::infinity();
    result.variants[0].time->samples[4] = NAN;
    CHECK(std::isfinite(*samples_figure(result).x.in_sight));
}

}  // namespace

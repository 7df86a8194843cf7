// The analysis of the times of launches, and its drawing.

#include "kernels/figures/timeline.h"
#include "kernels/cpu/pool.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

LaunchRecord launch(double start, double end, std::vector<BusySpan> busy) {
    LaunchRecord record;
    auto info = std::make_shared<LaunchInfo>();
    info->name = "tooth";
    record.info = std::move(info);
    record.start_us = start;
    record.duration_us = end - start;
    record.busy = std::move(busy);
    return record;
}

// Returns launches 10 us apart: of these, worker 0 is busy for 4 and worker 1 for 2.
std::vector<LaunchRecord> teeth(int count) {
    std::vector<LaunchRecord> launches;
    for (int i = 0; i < count; ++i) {
        const double at = 10.0 * i;
        launches.push_back(launch(at, at + 8, {{0, at + 1, at + 5}, {1, at + 2, at + 4}}));
    }
    return launches;
}

TEST_CASE("idle is the time without any work, utilisation the mean share of busy workers", "[timeline]") {
    const auto launches = teeth(10);  // from 0 to 98
    CHECK(end_us_of(launches) == Approx(98));
    CHECK(busy_us_of(launches) == Approx(40));
    CHECK(idle_share(launches) == Approx(58.0 / 98));
    CHECK(utilisation(launches, 2) == Approx(60.0 / 196));
    CHECK(utilisation(launches, 2, {0, 20}) == Approx(12.0 / 40));
    CHECK(utilisation(launches, 2, {5, 10}) == 0);
    CHECK(idle_share({}) == 0);
    // A launch without worker records, as on a GPU, is busy for its duration.
    CHECK(idle_share({launch(0, 4, {}), launch(6, 10, {})}) == Approx(0.2));
    CHECK(utilisation({launch(0, 4, {}), launch(6, 10, {})}, 2) == Approx(0.4));  // one thread block each
}

TEST_CASE("a range contains the launches that overlap it and their work inside it", "[timeline]") {
    const auto launches = teeth(10);  // busy from 1 to 5, 11 to 15, ...
    CHECK(busy_us_of(launches, {0, 20}) == Approx(8));
    CHECK(busy_us_of(launches, {3, 13}) == Approx(4));
    CHECK(busy_us_of(launches, {6, 10}) == 0);
    CHECK(busy_us_of(launches, {200, 300}) == 0);
    CHECK(launches_within(launches, {0, 20}) == 2);
    CHECK(launches_within(launches, {7, 11}) == 2);
    CHECK(launches_within(launches, {8, 10}) == 0);
}

TEST_CASE("a sample holds for the step that it ends", "[timeline]") {
    const Tracks::Track track = sampled_track({"active", "%", 5, 2, {10, 30}}, {Ink::Role::variant, 3});
    CHECK(track.label == "active");
    CHECK(track.x == std::vector<double>{5, 7, 7, 9});
    CHECK(track.y == std::vector<double>{10, 10, 30, 30});
    CHECK(track.unit == "%");
}

TEST_CASE("launches within one column are drawn as one", "[timeline]") {
    const auto launches = teeth(100000);
    View view;
    view.columns = 500;
    const auto spans = launch_spans(launches, view);
    CHECK(spans.size() <= 1000);
    CHECK(spans.size() >= 500);
    CHECK(spans.front().label.ends_with("launches"));
    CHECK(spans.front().busy == Approx(0.4).margin(0.01));  // 4 of 10 us, when a worker is busy
    CHECK(spans.back().end == Approx(end_us_of(launches) - 3));
    // If 20 teeth are visible, each has its own span.
    view.visible["time"] = {1000, 1200};
    const auto seen = launch_spans(launches, view);
    CHECK(seen.size() >= 20);
    CHECK(seen.size() <= 22);
    CHECK(seen.front().label == "tooth");
}

TEST_CASE("the curve of utilisation is exact near by and the mean of columns from afar", "[timeline]") {
    View view;
    view.columns = 100;
    Tracks::Track track;
    add_utilisation(teeth(10000), 2, view, track);
    REQUIRE(track.x.size() == track.y.size());
    CHECK(track.x.size() <= 4 * 100 + 8);
    CHECK(*std::max_element(track.y.begin(), track.y.end()) == Approx(30).margin(1));  // 6 of 20 us
    CHECK(std::is_sorted(track.x.begin(), track.x.end()));
    // If there is room, every step is drawn: up, up, down, down per tooth, with two points each.
    Tracks::Track whole;
    add_utilisation(teeth(3), 2, View{}, whole);
    CHECK(whole.y == std::vector<double>{0,   50, 50, 100, 100, 50, 50, 0,   0,   50, 50, 100,
                                         100, 50, 50, 0,   0,   50, 50, 100, 100, 50, 50, 0});
}

TEST_CASE("the label of a row of utilisation is the mean of its curve", "[timeline]") {
    Result result;
    result.processors = 2;
    VariantResult variant;
    variant.name = "sequential";
    variant.launches = teeth(4000);
    View view;
    view.columns = 200;
    for (const View::Range seen : {View::Range{0, 39998}, {1000, 1100}}) {
        view.visible["time"] = seen;
        const Tracks::Track track = utilisation_track(result, variant, view);
        double sum = 0;
        for (size_t i = 1; i < track.x.size(); ++i) {
            const double from = std::clamp(track.x[i - 1], seen.low, seen.high),
                         to = std::clamp(track.x[i], seen.low, seen.high);
            sum += track.y[i - 1] * (to - from);
        }
        CHECK(sum / (seen.high - seen.low) == Approx(30).margin(0.5));
        CHECK(track.label == "utilisation 30 %");
        CHECK(track.unit == "%");
    }
}

TEST_CASE("with very many dispatches the first are recorded and all are timed", "[timeline][pool]") {
    cpu::Pool pool(1);
    pool.start_recording();
    const size_t count = most_kept_launches + 100;
    for (size_t i = 0; i < count; ++i) pool.dispatch(1, cpu::Split::contiguous, [](const cpu::Item&) {});
    CHECK(pool.records().size() == most_kept_launches);
    CHECK(pool.end_us() > pool.records().back().end_us);
    pool.start_recording();
    CHECK(pool.records().empty());
    CHECK(pool.end_us() == 0);
}

}  // namespace
}  // namespace sawtooth

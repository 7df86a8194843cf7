// What `bench` measures, shown with the example family of tests/scale.

#include "app/engine/tables/bench.h"

#include "kernels/families.h"
#include "tests/kit/catch.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

LaunchRecord recorded(const std::string& name, const std::string& meaning, double bytes, double us) {
    LaunchRecord record;
    record.info =
        std::make_shared<const LaunchInfo>(LaunchInfo{.name = name, .meaning = meaning, .work = {bytes, 0}});
    record.duration_us = us;
    return record;
}

TEST_CASE("launches of one name and meaning are measured together", "[bench]") {
    const auto repeat = [](double scale) {
        return std::vector<LaunchRecord>{recorded("clear", "Zeros.", 2000, scale),
                                         recorded("gather", "The main sums.", 4000, 2 * scale),
                                         recorded("gather", "The other sums.", 0, 3 * scale),
                                         recorded("clear", "Zeros.", 6000, 4 * scale)};
    };
    const auto costs = costs_of({repeat(1), repeat(3), repeat(2)}, 1e9);
    REQUIRE(costs.size() == 3);
    CHECK(costs[0].name == "clear");
    CHECK(costs[0].count == 2);
    CHECK(costs[0].bytes == 8000);
    CHECK(costs[0].time.samples == std::vector<double>{5, 15, 10});
    CHECK(costs[0].time.median == 10);
    CHECK(*costs[0].gigabytes_per_second() == Approx(0.8));
    CHECK(*costs[0].over_copy == Approx(10.0 / 8));
    CHECK(costs[1].meaning == "The main sums.");
    CHECK(costs[2].count == 1);
    CHECK(costs[2].time.median == 6);
    CHECK_FALSE(costs[2].gigabytes_per_second());
    CHECK_FALSE(costs[2].over_copy);
    CHECK(costs_of({}, 1e9).empty());
    CHECK_FALSE(costs_of({repeat(1)}, 0)[0].over_copy);
    CHECK_FALSE(costs_of({repeat(1)}, 1e12)[0].over_copy);  // 8000 bytes: no launch is so short
}

Request on_one_thread(int repeats) {
    Request base;
    base.threads = 1;
    base.repeats = repeats;
    return base;
}

TEST_CASE("a case by launch reports the launches of each variant", "[bench]") {
    Runner runner(shared_cache());
    const auto report = run_bench(runner, {"scale"}, on_one_thread(3), {}, {});
    if (!report) FAIL(report.error().text);
    REQUIRE(report->rows.size() == 1);
    const BenchRow& row = report->rows[0];
    INFO(row.note);
    REQUIRE(row.time);
    REQUIRE(row.costs.size() == 1);
    const LaunchCost& cost = row.costs[0];
    CHECK(cost.name == "scale");
    CHECK(cost.count == 1);
    CHECK(cost.bytes == 8 * 2 * 65536);
    CHECK(cost.time.samples.size() == 3);
    CHECK(cost.time.median > 0);
    CHECK(*cost.over_copy > 0);
    // Errors by position are as long as the sequence: a worker could not send those of long cases.
    for (const BenchRow& each : report->rows) {
        REQUIRE_FALSE(each.errors.empty());
        for (const OutputError& error : each.errors) CHECK(error.by_position.empty());
    }
}

TEST_CASE("counters say what limits the launch that takes most of the time", "[bench]") {
    VariantResult variant;
    CHECK(counted_words(variant, 132).empty());
    for (const auto& [name, us] : {std::pair("prologue", 5.0), std::pair("forward", 60.0)}) {
        auto info = std::make_shared<LaunchInfo>();
        info->name = name;
        info->grid.x = 1000;
        info->resources = Resources{};
        LaunchRecord launch;
        launch.info = info;
        launch.duration_us = us;
        variant.launches.push_back(std::move(launch));
    }
    CHECK(counted_words(variant, 132).empty());  // no counters were read
    variant.launches[0].counters = {{"SM throughput (%)", 10}, {"DRAM throughput (%)", 90}};
    variant.launches[1].counters = {{"SM throughput (%)", 83}, {"DRAM throughput (%)", 20}};
    CHECK(counted_words(variant, 132) == "forward, compute: the SMs at 83 % of their peak");
    variant.launches[0].duration_us = 100;
    CHECK(counted_words(variant, 132) == "prologue, memory: DRAM at 90 % of its peak");
}

TEST_CASE("a bench that is stopped keeps the cases that were done", "[bench]") {
    Runner runner(shared_cache());
    std::stop_source stop;
    const auto report =
        run_bench(runner, {"scan"}, on_one_thread(1), stop.get_token(), [&](const Progress& progress, auto) {
            if (progress.fraction > 0) stop.request_stop();  // this is in the second case
        });
    if (!report) FAIL(report.error().text);
    REQUIRE(report->ended);
    CHECK(report->ended->kind == Error::Kind::cancelled);
    REQUIRE_FALSE(report->rows.empty());
    for (const BenchRow& row : report->rows) CHECK(row.name == report->rows[0].name);
}

}  // namespace
}  // namespace sawtooth

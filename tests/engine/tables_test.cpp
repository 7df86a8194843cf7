// Tables of GPU runs, and of chips that are not present.

#include "app/engine/tables/tables.h"
#include "app/engine/tables/commands.h"

#include "profiling/measure.h"
#include "tests/kit/catch.h"
#include "tests/kit/gpu_result.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

std::string cell(const Table& table, size_t row, const std::string& column) {
    for (size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].name == column) return table.rows.at(row).at(i);
    return "no column " + column;
}

TEST_CASE("the table shows registers, shared memory, spills and occupancy of GPU launches", "[tables]") {
    const auto result = scan_on_gpu();
    const Table launches = launches_table(result->variants[4], 132);
    CHECK(cell(launches, 2, "launch") == "downsweep");
    CHECK(cell(launches, 2, "registers") == "168");
    CHECK(cell(launches, 2, "shared") == "16 KiB");
    CHECK(cell(launches, 2, "spilled") == "24 B");
    CHECK(cell(launches, 2, "occupancy") == "75, registers");
    CHECK(cell(launches, 2, "achieved") == "62");
    for (VariantResult& variant : result->variants)
        for (LaunchRecord& launch : variant.launches) {
            LaunchInfo info = *launch.info;
            info.resources.reset();
            launch.info = std::make_shared<const LaunchInfo>(info);
        }
    CHECK(contains(cell(launches_table(result->variants[4], 132), 2, "registers"), "no column"));
    CHECK(contains(cell(numbers_table(*result), 0, "registers"), "no column"));
}

TEST_CASE("launches have their grid, start, duration and rate", "[tables]") {
    const auto result = scan_on_gpu();
    LaunchRecord& launch = result->variants[0].launches[2];
    launch.start_us = 16, launch.duration_us = 10;  // it moves 1e6 bytes
    const Table table = launches_table(result->variants[0], 132);
    CHECK(cell(table, 2, "grid") == "64 x 4");
    CHECK(cell(table, 2, "block") == "256");
    CHECK(cell(table, 2, "start") == "16");
    CHECK(cell(table, 2, "duration") == "10");
    CHECK(cell(table, 2, "rate") == "100");
    launch.duration_us = 0;  // not timed
    CHECK(cell(launches_table(result->variants[0], 132), 2, "rate").empty());
}

TEST_CASE("times are in the unit of the longest", "[tables]") {
    const auto result = scan_on_gpu();
    const auto check = [&](double longest, const std::string& unit, const std::vector<std::string>& cells) {
        for (VariantResult& variant : result->variants) variant.time = TimeStatistics{500, 500, 500, {500}};
        result->variants[1].time = TimeStatistics{longest, longest / 2, longest * 2, {longest}};
        const Table table = numbers_table(*result);
        INFO(unit);
        for (const Table::Column& column : table.columns)
            if (column.name == "time" || column.name == "q1" || column.name == "q3")
                CHECK(column.unit == unit);
        CHECK(std::vector{cell(table, 1, "q1"), cell(table, 1, "time"), cell(table, 1, "q3")} == cells);
    };
    check(800, "us", {"400", "800", "1600"});
    check(1500, "ms", {"0.75", "1.5", "3"});
    check(2.5e6, "s", {"1.25", "2.5", "5"});
}

TEST_CASE("GPU numbers are those of the launch that takes most of the time", "[tables]") {
    const auto result = scan_on_gpu();
    result->variants[0].launches[1].duration_us = 100;  // the launch "fold"
    const Table numbers = numbers_table(*result);
    CHECK(cell(numbers, 0, "registers") == "24");
    CHECK(cell(numbers, 0, "occupancy") == "75, registers");
    CHECK(cell(numbers, 0, "achieved") == "62");
    for (VariantResult& variant : result->variants)
        for (LaunchRecord& launch : variant.launches) launch.occupancy.achieved.reset();
    CHECK(contains(cell(numbers_table(*result), 0, "achieved"), "no column"));
}

TEST_CASE("compiled launches have a row per variant and launch", "[tables]") {
    const auto result = scan_on_gpu();
    CHECK(compiled_table(*result).rows.empty());
    add_compiled(*result, "sm_120");
    const Table compiled = compiled_table(*result);
    REQUIRE(compiled.rows.size() == 3 * result->variants.size());
    CHECK(cell(compiled, 0, "variant") == "sequential");
    CHECK(cell(compiled, 0, "launch") == "upsweep");
    CHECK(cell(compiled, 0, "chip") == "sm_120");
    CHECK(cell(compiled, 0, "registers") == "32");
    CHECK(cell(compiled, 0, "occupancy") == "50");
    CHECK(cell(compiled, 0, "limited by") == "shared memory");
}

TEST_CASE("words on compiled launches are of the largest and of the lowest occupancy", "[tables]") {
    CompiledLaunch one{"one", "sm_120", {32, 2048, 0}, {}, 128},
        other{"other", "sm_120", {24, 1024, 8}, {}, 128};
    one.occupancy.theoretical = 0.5;
    one.occupancy.limiter = "registers";
    other.occupancy.theoretical = 0.25;
    other.occupancy.limiter = "shared memory";
    CHECK(compiled_words({one, other}) == std::vector<std::string>{"32", "2048", "8", "25", "shared memory"});
    CHECK(compiled_words({}) == std::vector<std::string>(compiled_columns().size()));
}

TEST_CASE("a sweep has columns on compiled launches where there are any", "[tables]") {
    SweepResult sweep;
    sweep.sweep.axes = {{"length", {int64_t{1}, int64_t{2}}}};
    const auto result = scan_on_gpu();
    sweep.cells = {{{int64_t{1}}, "too short", nullptr}, {{int64_t{2}}, "", result}};
    CHECK(contains(cell(sweep_table(sweep), 1, "registers"), "no column"));
    add_compiled(*result, "sm_120");
    result->variants[0].refused = "it cannot";
    const Table table = sweep_table(sweep);
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    CHECK(cell(table, 0, "skipped") == "too short");
    CHECK(cell(table, 1, "registers") == "40");
    CHECK(cell(table, 1, "limited by") == "shared memory");
    CHECK(cell(table, 1, "skipped") == "it cannot");
}

TEST_CASE("limits and clocks of a GPU are sentences", "[tables]") {
    Ceilings limits{"NVIDIA H200", "2030-01-02", "CUDA 13.0", 1980, 0, 4.2e12, 4e12, 6e13, 5.5, {}};
    limits.gpu = GpuCeilings{8e14, 2.7, 1.02, 0.61};
    CHECK(words_of(limits) ==
          "Limits of NVIDIA H200, measured 2030-01-02, CUDA 13.0, 1980 MHz: copy 4200 GB/s, triad 4000 GB/s, "
          "arithmetic 60000 GFLOP/s, bf16 products 800 TFLOP/s, an empty launch takes 5.5 us with a wait, "
          "2.7 us in a stream, "
          "1.02 us in a graph, 0.61 us with programmatic dependent launch");
    limits.gpu->launch_programmatic_us.reset();  // a chip without programmatic launches
    CHECK_FALSE(contains(words_of(limits), "programmatic"));
    CHECK(sentence_of({1980, 1980, 1980, ""}) == "SM clock: 1980 MHz of 1980, not throttled");
    CHECK(sentence_of({1980, 1755, 1980, "power cap"}) ==
          "SM clock: 1980 to 1755 MHz of 1980, throttled: power cap");
}

TEST_CASE("a command repeats its backend and chip", "[tables]") {
    Request request;
    request.family = "scan";
    request.backend = BackendChoice::automatic;
    request.arch = "sm_90a";
    request.kernels = "my kernels";
    request.on = "ssh host sawtooth worker";
    CHECK(command_of(request) ==
          "sawtooth run scan --backend auto --kernels 'my kernels' --arch sm_90a --on 'ssh host sawtooth "
          "worker'");
}

TEST_CASE("too few repeats are noted by those that were measured, not those of the Request", "[tables]") {
    const auto result = scan_on_gpu();
    result->notes.clear();
    result->request.repeats = 2;
    for (VariantResult& variant : result->variants)
        variant.time = TimeStatistics{2, 2, 2, {2, 2, 2, 2, 2, 2}};
    CHECK(other_notes(*result).empty());
    result->variants[0].time->samples.resize(3);
    CHECK(other_notes(*result) ==
          std::vector<std::string>{"3 repeats are too few to tell times apart; use at least 6"});
}

TEST_CASE("a speed-up is told only where the repeats decide it, and an unstable time says so", "[tables]") {
    const auto result = scan_on_gpu();
    result->in_turns = true;
    const auto repeat = [](std::vector<double> samples) { return statistics_of(std::move(samples)); };
    result->variants[0].time = repeat(std::vector<double>(9, 24));
    result->variants[1].time = repeat(std::vector<double>(9, 10));
    result->variants[2].time = repeat(std::vector<double>(9, 24.5));
    result->variants[3].time = repeat({8, 80, 9, 90, 8, 70, 9, 60, 8});
    const Table table = numbers_table(*result);
    CHECK(cell(table, 0, "speed-up") == "1x");
    CHECK(cell(table, 1, "speed-up") == "2.4x");
    CHECK(cell(table, 2, "speed-up") == "same");
    CHECK(cell(table, 3, "speed-up") == "cannot tell");
    CHECK(cell(table, 3, "stability") == "unstable: 8.8x");
    CHECK(cell(table, 1, "stability").empty());
}

}  // namespace

// The output of `bench` has one row per case and variant, and fits a terminal whatever the numbers are.

#include "app/cli/bench_tables.h"

#include <algorithm>
#include <sstream>

#include "app/engine/run/configure.h"
#include "app/engine/tables/tables.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace {

using namespace sawtooth;
using namespace sawtooth::cli;

BenchRow timed_row(const std::string& family, const std::string& name, const std::string& variant,
                   const Bound& bound) {
    BenchRow row;
    row.family = family;
    row.name = name;
    row.variant = variant;
    row.time = TimeStatistics{123.4e3, 10e3, 300e3, {}};  // printed as "123 ms ±118%"
    row.limit_name = "copy";
    row.limit = row.time;
    row.ratio = Spread{1, 1, 1};
    row.launches = 1;
    row.bound = bound;
    return row;
}

// The width of the longest line in characters on a screen: continuation bytes of UTF-8 take no room.
size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    size_t longest = 0;
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
                               return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
                           })));
    return longest;
}

// A report with every case of every family on both backends, for each of its variants.
BenchReport full_report(const Bound& bound) {
    BenchReport report{"AMD EPYC, 2 threads, AVX3", "2030-01-02", "1.0", {}, {}, 9, Cache::cold};
    for (const Family* family : offered_families()) {
        if (!family->bench_cases) continue;
        for (const Backend backend : {Backend::cpu, Backend::cuda})
            for (const BenchCase& bench : family->bench_cases(backend))
                for (const Variant& variant : family->variants) {
                    const auto& names = bench.variants;
                    if (names.empty() || std::find(names.begin(), names.end(), variant.name) != names.end())
                        report.rows.push_back(timed_row(family->name, bench.name, variant.name, bound));
                }
    }
    return report;
}

TEST_CASE("no line of a bench is wider than a screen", "[bench]") {
    const Bound bound =
        GENERATE(Bound{Bound::By::arithmetic, 1.0, 0.123, 1.5}, Bound{Bound::By::bytes, 0.0123, 0.123, 1.5},
                 Bound{Bound::By::steps, {}, 0.1234, 163.4});
    BenchReport report = full_report(bound);
    report.rows.back().costs = {{"propagate_through_detectors_for_sequence", "", 128, 123.4e9,
                                 TimeStatistics{123.4e3, 10e3, 300e3, {}}, 123.4}};
    report.rows.front().time.reset();
    report.rows.front().bound.reset();
    report.rows.front().note =
        "relative L2 error of y is 0.9, above 0.0001, and so on for a long while after that";
    const std::string text = bench_text(report), markdown = bench_markdown(report);
    CHECK(longest_line(text) <= bench_width);
    CHECK(longest_line(markdown) <= bench_width);
    CHECK(bench_table(report).rows.size() == report.rows.size() + 1);
    CHECK(contains(text, "failed: relative L2 error of y is 0.9"));
}

TEST_CASE("a bench tells what was compiled for a chip", "[bench]") {
    BenchReport report = full_report({Bound::By::bytes, 0.0123, 0.123, 1.5});
    CHECK_FALSE(contains(bench_text(report), "compiled"));
    const size_t columns = bench_table(report).columns.size();
    CompiledLaunch launch{"upsweep", "sm_120", {32, 2048, 1024 * 1024}, {}, 128};
    launch.occupancy.theoretical = 0.5;
    launch.occupancy.limiter = "shared memory";
    for (BenchRow& row : report.rows) row.compiled = {launch};
    report.rows.back().costs = {{"fold", "", 1, 10, TimeStatistics{1, 1, 1, {}}, 1}};
    const std::string text = bench_text(report);
    CHECK(contains(text, "the most of all launches compiled for sm_120"));
    CHECK(
        contains(text, "32 registers, 2048 B shared, 1048576 B spilled, occupancy 50 % (shared\n  memory)"));
    CHECK(longest_line(text) <= bench_width);
    CHECK(longest_line(bench_markdown(report)) <= bench_width);
    const Table table = bench_table(report);
    CHECK(table.columns.size() == columns + compiled_columns().size() + 5);  // five of a launch
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    CHECK(table.rows[table.rows.size() - 2][columns] == "32");
    CHECK(table.rows.back()[columns].empty());
}

TEST_CASE("a row of a bench shows time, spread and the limit", "[bench]") {
    BenchReport report{"a chip", "2030-01-02", "1.0", {}, {}, 20, Cache::cold};
    report.rows = {
        timed_row("scan", "sum [4, 8192, 512]", "lookback", {Bound::By::bytes, 0.83, {}, {}}),
        timed_row("scan", "sum [4, 8192, 512]", "blelloch", {Bound::By::arithmetic, 0.007, {}, {}}),
        timed_row("scan", "sum [4, 8192, 512]", "sequential", {Bound::By::steps, {}, 4.19, 1.04}),
        timed_row("scan", "sum [4, 8192, 512]", "three_phase", {Bound::By::steps, {}, 0.37, {}}),
        timed_row("scan", "sum [4, 8192, 512]", "hillis", {Bound::By::arithmetic, {}, {}, {}})};
    for (BenchRow& row : report.rows) row.time = TimeStatistics{40.7, 40.2, 41.8, {}};
    CHECK(bench_markdown(report) ==
          "| case           | variant     |        time | limit             |\n"
          "| -------------- | ----------- | ----------: | ----------------- |\n"
          "| sum 4x8192x512 | lookback    | 40.7 us ±2% | bytes 83 %        |\n"
          "| sum 4x8192x512 | blelloch    | 40.7 us ±2% | arithmetic 0.7 %  |\n"
          "| sum 4x8192x512 | sequential  | 40.7 us ±2% | step 4.19 us 1.0x |\n"
          "| sum 4x8192x512 | three_phase | 40.7 us ±2% | step 370 ns       |\n"
          "| sum 4x8192x512 | hillis      | 40.7 us ±2% | above peak        |\n");
    CHECK(contains(bench_text(report), "scan on a chip: median of 20 repeats, caches cold"));
}

TEST_CASE("an unstable time of a bench says so, and a ratio to the limit has its interval", "[bench]") {
    BenchReport report{"a chip", "2030-01-02", "1.0", {}, {}, 20, Cache::cold};
    report.rows = {timed_row("scan", "sum [4, 8192, 512]", "lookback", {Bound::By::bytes, 0.5, {}, {}}),
                   timed_row("scan", "sum [4, 8192, 512]", "blelloch", {Bound::By::bytes, 0.5, {}, {}})};
    report.rows[1].time = TimeStatistics{40, 40, 40, std::vector<double>(20, 40.0)};
    report.rows[1].limit = TimeStatistics{20, 20, 20, std::vector<double>(20, 20.0)};
    report.rows[1].ratio = Spread{2, 2, 2};
    CHECK(contains(bench_text(report), "123 ms unstable: 30x"));
    CHECK(contains(bench_text(report), "40 us ±0%"));
    report.rows[1].time = TimeStatistics{40, 40, 40, {40.0}};  // one repeat has no spread
    CHECK_FALSE(contains(bench_text(report), "±0%"));
    report.rows[1].time = TimeStatistics{40, 40, 40, std::vector<double>(20, 40.0)};
    const Table table = bench_table(report);
    const auto cell = [&](size_t row, const std::string& name) {
        for (size_t c = 0; c < table.columns.size(); ++c)
            if (table.columns[c].name == name) return table.rows[row][c];
        return std::string("no such column");
    };
    CHECK(cell(0, "stability") == "unstable: 30x");
    CHECK(cell(0, "ratio at least").empty());  // nothing is known of the ratio
    CHECK(cell(1, "stability").empty());
    CHECK(cell(1, "ratio to limit") == "2");
    CHECK(cell(1, "ratio at least") == "2");
    CHECK(cell(1, "ratio at most") == "2");
    CHECK(cell(1, "measured") == "2030-01-02");
    CHECK(cell(1, "on") == "a chip");
}

TEST_CASE("what counters say is below the cases, and in the last column", "[bench]") {
    BenchReport report{"a chip", "2030-01-02", "1.0", {}, {}, 20, Cache::cold};
    report.rows = {timed_row("lut", "full [16, 8]", "unfused", {Bound::By::bytes, 0.5, {}, {}}),
                   timed_row("lut", "full [16, 8]", "fused", {Bound::By::bytes, 0.9, {}, {}})};
    const auto columns = bench_table(report).columns.size();
    CHECK_FALSE(contains(bench_text(report), "counters"));
    report.rows[1].counted = "detect, memory: DRAM at 83 % of its peak";
    CHECK(contains(bench_text(report), "full 16x8, fused: detect, memory: DRAM at 83 % of its peak\n"));
    report.rows[0].costs = {{"clear_y", "Zeros.", 1, 4 << 20, TimeStatistics{2.5, 2.5, 2.5, {}}, 1.64}};
    const Table table = bench_table(report);
    CHECK(table.columns.size() == columns + 6);
    CHECK(table.columns.back().name == "counters");
    REQUIRE(table.rows.size() == 3);
    CHECK(table.rows[0].back().empty());
    CHECK(table.rows[1].back().empty());
    CHECK(table.rows[2].back() == report.rows[1].counted);
}

TEST_CASE("a case by launch has a table of launches below the cases", "[bench]") {
    BenchReport report{"a chip", "2030-01-02", "1.0", {}, {}, 20, Cache::cold};
    report.rows = {timed_row("lut", "full [16, 8]", "unfused", {Bound::By::bytes, 0.5, {}, {}}),
                   timed_row("lut", "full [16, 8]", "fused", {Bound::By::bytes, 0.9, {}, {}})};
    const auto columns = bench_table(report).columns.size();
    for (BenchRow& row : report.rows) row.time = TimeStatistics{40.7, 40.2, 41.8, {}};
    report.rows.front().costs = {
        {"clear_y", "Zeros.", 1, 4 << 20, TimeStatistics{2.5, 2.5, 2.5, {}}, 1.64},
        {"fill_outputs", "Adds.", 3, 8 << 20, TimeStatistics{36.2, 36, 36.4, {}}, 12.1},
        {"flag", "Nothing to move.", 1, 0, TimeStatistics{2, 2, 2, {}}, {}}};
    CHECK(bench_markdown(report) ==
          "| case      | variant |        time | limit      |\n"
          "| --------- | ------- | ----------: | ---------- |\n"
          "| full 16x8 | unfused | 40.7 us ±2% | bytes 50 % |\n"
          "| full 16x8 | fused   | 40.7 us ±2% | bytes 90 % |\n"
          "\n"
          "full 16x8, unfused, by launch:\n"
          "\n"
          "| launch           |        time | bytes | GB/s | copy |\n"
          "| ---------------- | ----------: | ----: | ---: | ---: |\n"
          "| clear_y          |  2.5 us ±0% | 4 MiB | 1678 | 1.6x |\n"
          "| 3 x fill_outputs | 36.2 us ±1% | 8 MiB |  232 |  12x |\n"
          "| flag             |    2 us ±0% |   0 B |      |      |\n");
    CHECK(contains(bench_text(report), "by launch: "));

    const Table table = bench_table(report);
    CHECK(table.columns.size() == columns + 5);
    REQUIRE(table.rows.size() == 5);
    CHECK(table.rows[0][columns].empty());
    CHECK(table.rows[1][0] == "lut");
    CHECK(table.rows[1][3] == "2.5");
    CHECK(table.rows[1][columns] == "clear_y");
    CHECK(table.rows[1][columns + 3] == "1.64");
    CHECK(table.rows[1][columns + 4] == "Zeros.");
    CHECK(table.rows[4][2] == "fused");
}

}  // namespace

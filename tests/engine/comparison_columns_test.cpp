#include "app/engine/tables/comparison_columns.h"

#include "app/engine/tables/tables.h"
#include "tests/kit/catch.h"

using namespace sawtooth;

namespace {

TimeStatistics nine_repeats_of(double us) {
    TimeStatistics time{us, us, us, std::vector<double>(9, us)};
    for (size_t i = 0; i < 9; ++i) time.samples[i] += 0.001 * static_cast<double>(i);
    return time;
}

Result result_of(double us, double error) {
    Result result;
    result.main_output = "y";
    VariantResult variant;
    variant.name = "lookback";
    variant.time = nine_repeats_of(us);
    variant.errors.resize(1);
    variant.errors[0].output = "y";
    variant.errors[0].max_abs = error;
    variant.verdicts = {{"y", Verdict::right}};
    result.variants = {variant};
    return result;
}

std::vector<std::string> cells(const Result& result, const Result& base) {
    Table table{{{"variant", "", false}, {"skipped", "", false}}, {{"lookback", ""}}};
    add_comparison(table, result, base, "chunk 64");
    CHECK(table.columns.at(1).name == "time vs chunk 64");
    CHECK(table.columns.at(2).name == "error vs chunk 64");
    CHECK(table.columns.at(3).name == "skipped");
    return {table.rows.at(0).at(1), table.rows.at(0).at(2)};
}

}  // namespace

TEST_CASE("a table compares a result with an earlier one, with a verdict on time", "[tables]") {
    CHECK(cells(result_of(10, 2e-6), result_of(30, 1e-6)) == std::vector<std::string>{"3x faster", "2x"});
    CHECK(cells(result_of(30, 1e-6), result_of(10, 1e-6)) == std::vector<std::string>{"3x slower", "same"});
    // The machine may have changed in between by that much.
    CHECK(cells(result_of(12, 1e-6), result_of(10, 1e-6)).front() == "cannot tell");
    CHECK(cells(result_of(10, 1e-6), result_of(10, 1e-6)).front() == "same");
}

TEST_CASE("a comparison stands beside the verdict, where a narrow table shows it", "[tables]") {
    Table table{{{"variant", "", false}, {"verdict", "", false}, {"errors", ""}},
                {{"lookback", "right", "1"}}};
    add_comparison(table, result_of(10, 2e-6), result_of(30, 1e-6), "chunk 64");
    CHECK(table.columns.at(2).name == "time vs chunk 64");
    CHECK(table.columns.at(4).name == "errors");
    CHECK(table.rows.at(0) == std::vector<std::string>{"lookback", "right", "3x faster", "2x", "1"});
}

TEST_CASE("a wrong or missing result is not compared", "[tables]") {
    Result wrong = result_of(10, 1);
    wrong.variants[0].verdicts[0].verdict = Verdict::wrong;
    CHECK(cells(wrong, result_of(30, 1e-6)).front().empty());
    CHECK(cells(result_of(10, 1e-6), wrong).front().empty());
    Result other = result_of(30, 1e-6);
    other.variants[0].name = "blelloch";
    CHECK(cells(result_of(10, 1e-6), other) == std::vector<std::string>{"", ""});
    other = result_of(30, 0);
    CHECK(cells(result_of(10, 1e-6), other).back().empty());
}

namespace {

Result on_a_gpu(double us, double bytes, int registers, double occupancy) {
    Result result = result_of(us, 1e-6);
    auto info = std::make_shared<LaunchInfo>();
    info->name = "scan";
    info->resources = Resources{};
    info->resources->registers = registers;
    LaunchRecord launch;
    launch.info = std::move(info);
    launch.duration_us = us;
    launch.occupancy.theoretical = occupancy;
    result.variants[0].launches = {launch};
    result.variants[0].work.bytes = bytes;
    return result;
}

Table compared(const Result& result, const Result& base) {
    Table table{{{"variant", "", false}, {"verdict", "", false}}, {{"lookback", "right"}}};
    add_comparison(table, result, base, "it");
    return table;
}

}  // namespace

TEST_CASE("registers and occupancy are compared where both are known", "[tables]") {
    const Table table = compared(on_a_gpu(10, 100, 40, 0.5), on_a_gpu(10, 100, 32, 0.625));
    REQUIRE(table.columns.size() == 6);
    CHECK(table.columns[4].name == "registers vs it");
    CHECK(table.columns[5].name == "occupancy vs it");
    CHECK(table.rows[0] == std::vector<std::string>{"lookback", "right", "same", "same", "+8", "-13 points"});
    CHECK(compared(on_a_gpu(10, 100, 32, 0.5), on_a_gpu(10, 100, 32, 0.5)).rows[0][4] == "same");
    CHECK(compared(on_a_gpu(10, 100, 32, 0.5), result_of(10, 1e-6)).columns.size() == 4);
}

TEST_CASE("rates are compared if the two move other amounts of bytes", "[tables]") {
    // Twice the time for four times the bytes.
    const Table table = compared(on_a_gpu(20, 400, 32, 0.5), on_a_gpu(10, 100, 32, 0.5));
    CHECK(table.columns[4].name == "rate vs it");
    CHECK(table.rows[0][2] == "2x slower");
    CHECK(table.rows[0][4] == "2x faster");
}

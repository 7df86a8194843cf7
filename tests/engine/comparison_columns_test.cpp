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

// Sweeps whose cells ran in several places: what is said of them, and what is compared.

#include <algorithm>

#include "app/engine/tables/joined_bench.h"
#include "app/engine/tables/tables.h"
#include "app/engine/tables/triton_configs.h"
#include "app/engine/wire/json.h"
#include "kernels/families.h"
#include "kernels/figures/sweep_cells.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

struct Place {
    std::string device, host, on;
};

// A sweep of one variant; every cell took so many microseconds in its place.
SweepResult sweep_in(const std::vector<Place>& places, const std::vector<double>& times) {
    Sweep sweep;
    sweep.base.family = "scan";
    sweep.axes = {{"channels", {}}};
    for (size_t i = 0; i < places.size(); ++i) sweep.axes[0].values.emplace_back(static_cast<int64_t>(i + 1));
    SweepResult result = unmeasured(sweep);
    for (size_t i = 0; i < places.size(); ++i) {
        auto own = std::make_shared<Result>();
        own->request = sweep.request(i);
        own->parameters = find_family("scan")->defaults();
        own->request.on = places[i].on;
        own->device = places[i].device;
        own->host = places[i].host;
        VariantResult variant;
        variant.name = "lookback";
        variant.verdicts = {{.output = "y", .verdict = Verdict::right}};
        variant.time = TimeStatistics{times[i], times[i], times[i], std::vector<double>(9, times[i])};
        own->variants = {variant};
        result.cells[i].result = std::move(own);
    }
    result.complete = true;
    return result;
}

bool has_column(const Table& table, const std::string& name) {
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [&](const Table::Column& column) { return column.name == name; });
}

TEST_CASE("times of two chips are not compared: each has its fastest cell", "[engine][team]") {
    const SweepResult sweep = sweep_in(
        {{"H100", "n1", "a"}, {"H200", "n2", "b"}, {"H100", "n1", "a"}, {"H200", "n2", "b"}}, {10, 1, 2, 40});
    const auto best = best_cells(sweep);
    REQUIRE(best.size() == 2);
    CHECK(best[0].device == "H100");
    CHECK(best[0].cells == std::vector<size_t>{2});
    CHECK(best[1].device == "H200");
    CHECK(best[1].cells == std::vector<size_t>{1});
    // The neighbours of channels 3 ran on the other chip.
    const std::string words = best_words(sweep, best[0]);
    CHECK(contains(words, "lookback on H100: channels 3, "));
    CHECK_FALSE(contains(words, "faster"));
    const SweepResult same = sweep_in({{"H100", "n1", "a"}, {"H100", "n2", "b"}}, {10, 1});
    REQUIRE(best_cells(same).size() == 1);
    CHECK(best_cells(same)[0].device.empty());
    CHECK(contains(best_words(same, best_cells(same)[0]), "10x faster than 1"));
}

TEST_CASE("a sweep table says where cells ran if that differs", "[engine][team]") {
    const Table one = sweep_table(sweep_in({{"H100", "n1", "a"}, {"H100", "n1", "a"}}, {1, 2}));
    for (const char* name : {"device", "host", "worker"}) CHECK_FALSE(has_column(one, name));
    const SweepResult several = sweep_in({{"H100", "n1", "srun"}, {"H100", "n2", "srun"}}, {1, 2});
    const Table two = sweep_table(several);
    CHECK(has_column(two, "host"));
    CHECK_FALSE(has_column(two, "device"));
    CHECK_FALSE(has_column(two, "worker"));
    CHECK(two.rows[1][1] == "n2");
    CHECK(contains(to_json(several), "\"host\": \"n2\""));
    const SweepResult workers = sweep_in({{"H100", "n1", "ssh a"}, {"H200", "n1", "ssh b"}}, {1, 2});
    const Table three = sweep_table(workers);
    CHECK(three.rows[1][1] == "H200");
    CHECK(three.rows[1][2] == "ssh b");
    CHECK(contains(to_json(workers), "\"worker\": \"ssh b\""));
}

TEST_CASE("cells that are missing have no row", "[engine][team]") {
    SweepResult sweep = sweep_in({{"H100", "n1", "a"}, {"H100", "n1", "a"}, {"H100", "n1", "a"}}, {1, 2, 3});
    sweep.cells[1] = {sweep.sweep.cell(1), "", nullptr};
    sweep.cells[2] = {sweep.sweep.cell(2), "no memory", nullptr};
    sweep.complete = false;
    const Table table = sweep_table(sweep);
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[1].back() == "no memory");
    CHECK(count_of_measured(sweep) == 2);
    CHECK(missing_words(sweep) == "channels 2");
    CHECK(missing_words(unmeasured(sweep_in(std::vector<Place>(30), std::vector<double>(30)).sweep))
              .ends_with("channels 20; 10 more"));
}

TEST_CASE("an exported setting says with how many others it was compared", "[engine][team]") {
    SweepResult sweep = sweep_in(std::vector<Place>(6, {"H100", "n1", "a"}), {10, 10, 10, 40, 10, 10});
    CHECK(contains(*triton_configs(sweep), "# 4 of 5 other settings may be as fast\n"));
    CHECK_FALSE(contains(*triton_configs(sweep), "not measured"));
    sweep.cells[1] = {sweep.sweep.cell(1), "no memory", nullptr};
    auto wrong = std::make_shared<Result>(*sweep.cells[2].result);
    wrong->variants[0].verdicts[0].verdict = Verdict::wrong;
    sweep.cells[2].result = wrong;
    CHECK(contains(*triton_configs(sweep), "# 2 of 3 other settings may be as fast\n"));
    sweep.cells[5] = {sweep.sweep.cell(5), "", nullptr};
    sweep.complete = false;
    CHECK(triton_configs(sweep)->starts_with("# not measured: 1 of 6 settings\n"));
    CHECK(contains(*triton_configs(sweep), "# 1 of 2 other settings may be as fast\n"));
    sweep.cells.pop_back();  // as in a search, which has no later cells
    CHECK(triton_configs(sweep)->starts_with("# not measured: 1 of 6 settings\n"));
    const SweepResult chips =
        sweep_in({{"H100", "n1", "a"}, {"H200", "n2", "b"}, {"H100", "n1", "a"}, {"H200", "n2", "b"}},
                 {10, 1, 10, 40});
    CHECK(contains(*triton_configs(chips), "# 1 of 1 other settings may be as fast\n"));
}

TEST_CASE("an exported search says if it ended early", "[engine][team]") {
    SweepResult sweep = sweep_in({{"H100", "n1", "a"}, {"H100", "n1", "a"}}, {10, 40});
    sweep.sweep.search = true;
    CHECK(triton_configs(sweep)->starts_with("# lookback on H100: "));
    sweep.complete = false;
    CHECK(triton_configs(sweep)->starts_with("# the search ended early, so its times have fewer repeats\n"));
}

TEST_CASE("reports of bench from several machines are one, which says where each row ran", "[engine][team]") {
    const auto report = [](const std::string& family, const std::string& device) {
        BenchRow row;
        row.family = family;
        row.device = device;
        return BenchReport{device, "2026-11-26", "1.0", {row, row}, {"a note"}, 9, Cache::cold};
    };
    BenchReport broken = report("btp", "H200");
    broken.ended = Error::failure("out of memory");
    const BenchReport all = joined({report("scan", "H100"), broken, report("lut", "H100")});
    CHECK(all.device == "H100; H200");
    CHECK(all.version == "1.0");
    CHECK(all.notes == std::vector<std::string>{"a note"});
    REQUIRE(all.rows.size() == 6);
    CHECK(all.rows[2].family == "btp");
    CHECK(all.rows[2].device == "H200");
    REQUIRE(all.ended);
    CHECK(all.ended->text == "out of memory");
}

}  // namespace
}  // namespace sawtooth

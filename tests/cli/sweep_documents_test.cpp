// What sawtooth sweep says below its table.

#include "app/cli/sweep_documents.h"

#include "kernels/figures/sweep_cells.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth::cli {
namespace {

// A sweep over block sizes in which lookback took so many microseconds, and sequential 10 in its first cells.
SweepResult sweep_with(const std::vector<double>& times, size_t cells_of_sequential) {
    Sweep sweep;
    sweep.base.family = "scan";
    sweep.axes = {{"block_size", {}}};
    for (size_t i = 0; i < times.size(); ++i) sweep.axes[0].values.emplace_back(int64_t{64} << i);
    SweepResult result = unmeasured(sweep);
    for (size_t i = 0; i < times.size(); ++i) {
        auto cell = std::make_shared<Result>();
        const auto add = [&](const char* name, int index, double us) {
            VariantResult& variant = cell->variants.emplace_back();
            variant.name = name;
            variant.index = index;
            variant.verdicts = {{.output = "y", .verdict = Verdict::right}};
            variant.time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
        };
        add("lookback", 1, times[i]);
        if (i < cells_of_sequential) add("sequential", 2, 10);
        result.cells[i].result = std::move(cell);
    }
    result.complete = true;
    return result;
}

TEST_CASE("a sweep says that close times do not tell its cells apart, unless it measured in turns", "[cli]") {
    const char* const words = "only factors above 1.5 tell them apart; --best measures in turns\n";
    SweepResult sweep = sweep_with({10, 14, 40}, 0);
    CHECK(contains(best_lines(sweep), "fastest lookback: block_size 64 or 128"));
    CHECK(contains(best_lines(sweep), words));
    CHECK_FALSE(contains(best_lines(sweep_with({10, 16, 40}, 0)), words));
    sweep.sweep.search = true;
    CHECK_FALSE(contains(best_lines(sweep), words));
    sweep.complete = false;
    CHECK(best_lines(sweep).empty());
}

TEST_CASE("a sweep says which variants have a right result in one cell only", "[cli]") {
    const std::string words =
        "sequential has a right result with a time in one cell only, so no cell is the fastest\n";
    CHECK(best_lines(sweep_with({10, 40, 40}, 1)).ends_with(words));
    CHECK_FALSE(contains(best_lines(sweep_with({10, 40, 40}, 1)), "lookback has a right result"));
    for (const size_t cells : {size_t{0}, size_t{2}})
        CHECK_FALSE(contains(best_lines(sweep_with({10, 40, 40}, cells)), "one cell only"));
}

}  // namespace
}  // namespace sawtooth::cli

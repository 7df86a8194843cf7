// How a sweep is divided into shards.

#include "app/engine/run/shards.h"

#include <algorithm>
#include <numeric>

#include "tests/kit/catch.h"
#include "tests/kit/random_seed.h"

namespace sawtooth {
namespace {

uint64_t sum_of(const std::vector<uint64_t>& costs, const std::vector<size_t>& cells) {
    return std::accumulate(cells.begin(), cells.end(), uint64_t{0},
                           [&](uint64_t sum, size_t cell) { return sum + costs[cell]; });
}

// Every cell in exactly one shard, and no shard above the mean by more than one cell.
void check_division(const std::vector<uint64_t>& costs, size_t count) {
    std::vector<int> times(costs.size());
    std::vector<size_t> all(costs.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const uint64_t mean = sum_of(costs, all) / count;
    const uint64_t most = costs.empty() ? 0 : *std::max_element(costs.begin(), costs.end());
    for (size_t number = 1; number <= count; ++number) {
        const auto cells = cells_of_shard(costs, {number, count});
        CHECK(std::is_sorted(cells.begin(), cells.end()));
        for (const size_t cell : cells) ++times.at(cell);
        CHECK(sum_of(costs, cells) <= mean + most);
    }
    CHECK(std::all_of(times.begin(), times.end(), [](int each) { return each == 1; }));
}

TEST_CASE("shards have every cell of random sweeps once, and cost about the same", "[engine][shards]") {
    Random random(random_seed(), "shards");
    for (int i = 0; i < 200; ++i) {
        INFO("SAWTOOTH_RANDOM_SEED=" << random_seed() << ", sweep " << i);
        std::vector<uint64_t> costs(static_cast<size_t>(random.below(300)));
        for (uint64_t& cost : costs) cost = uint64_t{1} << random.below(40);
        check_division(costs, static_cast<size_t>(1 + random.below(60)));
    }
    CHECK(cells_of_shard({5, 1, 1, 1, 1, 1}, {1, 2}) == std::vector<size_t>{0});
    CHECK(cells_of_shard({5, 1, 1, 1, 1, 1}, {2, 2}) == std::vector<size_t>{1, 2, 3, 4, 5});
    CHECK(cells_of_shard({1, 1}, {3, 3}).empty());
}

TEST_CASE("larger cells of a sweep cost more, and refused ones little", "[engine][shards]") {
    Sweep sweep;
    sweep.base.family = "scan";
    sweep.axes = {{"length", {int64_t{1024}, int64_t{1} << 20, int64_t{1} << 24}},
                  {"op", {std::string("sum")}}};
    const auto costs = costs_of_cells(sweep);
    REQUIRE(costs.size() == 3);
    CHECK(std::is_sorted(costs.begin(), costs.end()));
    CHECK(costs[2] > 10 * costs[1]);
    sweep.base.parameters.set("compensated", true);
    sweep.axes[1].values = {std::string("max")};  // cannot be compensated
    for (const uint64_t cost : costs_of_cells(sweep)) CHECK(cost <= costs[0]);
    // Where it runs does not matter.
    Sweep elsewhere = sweep;
    elsewhere.base.on = "ssh host sawtooth worker";
    elsewhere.base.backend = BackendChoice::automatic;
    elsewhere.base.threads = 7;
    CHECK(costs_of_cells(elsewhere) == costs_of_cells(sweep));
}

}  // namespace
}  // namespace sawtooth

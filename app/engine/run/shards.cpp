#include "app/engine/run/shards.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "app/engine/run/configure.h"

namespace sawtooth {
namespace {

// What a cell costs besides its work: inputs, plans, compiling.
constexpr uint64_t least_cost = 10'000'000;
constexpr double most_work = 1e15;  // sums of a million cells still fit

// Automatic backends count as the CPU, because machines may choose differently.
uint64_t cost_of(const Request& request) {
    const Backend backend = request.backend == BackendChoice::cuda ? Backend::cuda : Backend::cpu;
    const auto configuration = configure_shapes(request, {}, backend);
    if (!configuration || !configuration->family->work) return least_cost;
    const Work work = configuration->family->work(configuration->parameters, {});
    const double sum = work.bytes + work.operations;
    return least_cost + (sum > 0 ? static_cast<uint64_t>(std::min(sum, most_work)) : 0);
}

}  // namespace

std::vector<uint64_t> costs_of_cells(const Sweep& sweep) {
    std::vector<uint64_t> costs;
    for (size_t cell = 0; cell < sweep.cells(); ++cell) costs.push_back(cost_of(sweep.request(cell)));
    return costs;
}

std::vector<size_t> cells_of_shard(const std::vector<uint64_t>& costs, const Shard& shard) {
    std::vector<size_t> order(costs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t one, size_t other) { return costs[one] > costs[other]; });
    using Load = std::pair<uint64_t, size_t>;  // the cost so far, and the number of the shard
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (size_t number = 1; number <= shard.count; ++number) loads.emplace(0, number);
    std::vector<size_t> cells;
    for (const size_t cell : order) {
        const auto [cost, number] = loads.top();
        loads.pop();
        loads.emplace(cost + costs[cell], number);
        if (number == shard.number) cells.push_back(cell);
    }
    std::sort(cells.begin(), cells.end());
    return cells;
}

}  // namespace sawtooth

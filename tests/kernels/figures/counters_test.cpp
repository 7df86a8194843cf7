// What counters say about a launch.

#include "kernels/figures/counters.h"

#include <set>

#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

LaunchRecord counted(std::map<std::string, double> counters, int64_t blocks = 1000) {
    LaunchInfo info;
    info.grid = {blocks, 1, 1};
    LaunchRecord launch;
    launch.info = std::make_shared<const LaunchInfo>(std::move(info));
    launch.counters = std::move(counters);
    return launch;
}

TEST_CASE("the busiest part of the chip limits a launch, from 60 % of its peak", "[figures]") {
    const auto told = [](double dram, double l2, double sm, int64_t blocks = 1000) {
        const auto limit = limit_of(
            counted({{"DRAM throughput (%)", dram}, {"L2 throughput (%)", l2}, {"SM throughput (%)", sm}},
                    blocks),
            132);
        REQUIRE(limit);
        return std::pair(limit->by, limit->words);
    };
    using By = LaunchLimit::By;
    CHECK(told(82, 40, 30) == std::pair<By, std::string>(By::memory, "DRAM at 82 % of its peak"));
    CHECK(told(20, 75, 70) == std::pair<By, std::string>(By::memory, "the L2 cache at 75 % of its peak"));
    CHECK(told(61, 40, 90) == std::pair<By, std::string>(By::compute, "the SMs at 90 % of their peak"));
    CHECK(told(59, 10, 59).first == By::latency);
    CHECK(contains(told(59, 10, 31).second, "warps wait: DRAM at 59 % of its peak, the SMs at 31 %"));
    CHECK(told(10, 10, 10, 131) ==
          std::pair<By, std::string>(By::launch, "fewer blocks, 131, than SMs, 132"));
    CHECK(told(10, 10, 10, 132).first == By::latency);
    CHECK(told(82, 10, 10, 1).first == By::memory);
}

TEST_CASE("without counters nothing is said about the limit", "[figures]") {
    CHECK_FALSE(limit_of(counted({}), 132));
    CHECK_FALSE(limit_of(counted({{"DRAM throughput (%)", 90}}), 132));
    // Whether all SMs have work is not known without their number.
    const auto limit = limit_of(counted({{"DRAM throughput (%)", 9}, {"SM throughput (%)", 9}}, 1), 0);
    REQUIRE(limit);
    CHECK(limit->by == LaunchLimit::By::latency);
}

TEST_CASE("every counter has its own names and a meaning, and sections stand together", "[figures]") {
    std::set<std::string> metrics, keys;
    std::vector<CounterSection> sections;
    for (const Counter& counter : counters()) {
        CHECK(metrics.insert(counter.metric).second);
        CHECK(keys.insert(counter.key).second);
        CHECK(std::string(counter.meaning).ends_with("."));
        CHECK(find_counter(counter.key) == &counter);
        if (sections.empty() || sections.back() != counter.section) sections.push_back(counter.section);
    }
    CHECK(sections.size() == 3);
    CHECK(find_counter(warps_active_percent));
    CHECK_FALSE(find_counter("of another build"));
}

}  // namespace
}  // namespace sawtooth

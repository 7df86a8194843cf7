// Two plans that take turns.

#include "profiling/pairs.h"

#include <map>

#include "tests/kit/catch.h"

namespace {

using namespace sawtooth;

// A plan of one launch that appends its name to what was run.
Plan plan_of(char name, std::string& ran) {
    Plan plan;
    auto info = std::make_shared<LaunchInfo>();
    info->name = std::string(1, name);
    plan.launches.push_back({info, [&ran, name](Queue& queue) {
                                 queue.pool->dispatch(1, cpu::Split::contiguous,
                                                      [&](const cpu::Item&) { ran += name; });
                             }});
    return plan;
}

TEST_CASE("two plans take turns in alternating order, after a turn that warms up", "[profiling]") {
    cpu::Pool pool(1);
    std::string ran;
    const Plan one = plan_of('a', ran), other = plan_of('b', ran);
    int turns = 0;
    const Executor on{&pool, nullptr};
    const auto times = measure_pair({&one, on}, {&other, on}, Cache::cold, 5, [&] { ++turns; });
    REQUIRE(times);
    CHECK(times->first.samples.size() == 5);
    CHECK(times->second.samples.size() == 5);
    // Disturbed turns are taken again, at most as many as there are repeats.
    REQUIRE(ran.size() == static_cast<size_t>(2 * turns));
    CHECK(turns >= 6);
    CHECK(turns <= 11);
    CHECK(ran.starts_with("abab"));
    CHECK(ran.find("ba") != std::string::npos);
    std::map<std::string, int> orders;
    for (size_t turn = 0; turn < ran.size(); turn += 2) ++orders[ran.substr(turn, 2)];
    CHECK(orders["ab"] + orders["ba"] == turns);
    CHECK(orders["ba"] >= 2);
    for (const TimeStatistics* const time : {&times->first, &times->second})
        for (const int64_t sample : time->disturbed) CHECK(sample < 5);
}

TEST_CASE("with hot caches each repeat follows a run of the same plan", "[profiling]") {
    cpu::Pool pool(1), its_own(1);
    std::string ran;
    const Plan one = plan_of('a', ran), other = plan_of('b', ran);
    const auto times =
        measure_pair({&one, {&pool, nullptr}}, {&other, {&its_own, nullptr}}, Cache::hot, 3, [] {});
    REQUIRE(times);
    CHECK(ran.size() % 4 == 0);
    for (size_t run = 0; run < ran.size(); run += 2) CHECK(ran[run] == ran[run + 1]);
}

TEST_CASE("a pool that is stopped ends the pair", "[profiling]") {
    cpu::Pool pool(1);
    std::string ran;
    const Plan one = plan_of('a', ran), other = plan_of('b', ran);
    std::stop_source stop;
    pool.set_stop(stop.get_token());
    stop.request_stop();
    const Executor on{&pool, nullptr};
    const auto times = measure_pair({&one, on}, {&other, on}, Cache::cold, 3, [] {});
    REQUIRE_FALSE(times);
    CHECK(times.error().kind == Error::Kind::cancelled);
}

}  // namespace

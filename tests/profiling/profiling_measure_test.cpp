// Measurements without a GPU: statistics, the CPU executor, messages, and processing of samples.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "app/engine/run/runner.h"
#include "kernels/cpu/limits.h"
#include "kernels/cuda/chips.h"
#include "profiling/ceilings.h"
#include "profiling/ceilings_gpu.h"
#include "profiling/clocks.h"
#include "profiling/cupti_counters.h"
#include "profiling/cupti_sampling.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/temporary_folder.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

Plan plan_of(int launches, std::vector<int>& done) {
    Plan plan;
    auto info = std::make_shared<LaunchInfo>();
    info->name = "count";
    for (int i = 0; i < launches; ++i)
        plan.launches.push_back({info, [&done, i](Queue& queue) {
                                     queue.pool->dispatch(1, cpu::Split::contiguous,
                                                          [&](const cpu::Item&) { done.push_back(i); });
                                 }});
    return plan;
}

TEST_CASE("quartiles are those of NumPy's percentile", "[profiling]") {
    const TimeStatistics time = statistics_of({4, 1, 3, 2});
    CHECK(time.q1 == Approx(1.75));
    CHECK(time.median == Approx(2.5));
    CHECK(time.q3 == Approx(3.25));
    CHECK(time.samples == std::vector<double>{4, 1, 3, 2});
}

TEST_CASE("the CPU executor runs the launches in order, once per repeat", "[profiling]") {
    cpu::Pool pool(2);
    std::vector<int> done, heard;
    const Plan plan = plan_of(3, done);
    const auto run = run_plan(plan, Executor{&pool, nullptr}, Cache::cold, TimedBy::records);
    REQUIRE(run);
    CHECK(done == std::vector<int>{0, 1, 2});
    REQUIRE(run->launches.size() == 3);
    CHECK(run->total_us == Approx(run->launches[2].start_us + run->launches[2].duration_us));

    const auto measured = measure({&plan}, Executor{&pool, nullptr}, Cache::cold, 4,
                                  [&](size_t, int round) { heard.push_back(round); });
    REQUIRE(measured);
    CHECK(heard == std::vector<int>{0, 1, 2, 3});
    const TimeStatistics& time = measured->front().time;
    CHECK(time.samples.size() == 4);
    CHECK(measured->front().launches.size() == 3);
    CHECK(done.size() >= 15);  // more if a repeat was disturbed and run again
    CHECK(std::is_sorted(time.disturbed.begin(), time.disturbed.end()));
}

TEST_CASE("the launches of a measurement are those of the repeat in the middle", "[profiling]") {
    cpu::Pool pool(1);
    constexpr int amounts[] = {3, 1, 5, 2, 4};  // of work, so that no repeat takes as long as another
    int amount = 0;
    const auto work = [&](const cpu::Item&) {
        volatile int sum = 0;
        for (int i = 0; i < 10000 * amount; ++i) sum = sum + 1;
    };
    Plan plan;
    plan.launches.push_back({std::make_shared<LaunchInfo>(),
                             [&](Queue& queue) { queue.pool->dispatch(1, cpu::Split::contiguous, work); }});
    const auto measured = measure({&plan}, Executor{&pool, nullptr}, Cache::cold, 5,
                                  [&](size_t, int round) { amount = amounts[round]; });
    REQUIRE(measured);
    const auto& [time, launches, note] = measured->front();
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].start_us + launches[0].duration_us == Approx(time.median));
}

TEST_CASE("plans take turns in an order that changes from round to round", "[profiling]") {
    cpu::Pool pool(1);
    std::vector<int> done;
    std::vector<Plan> plans(3);
    for (Plan& plan : plans) plan = plan_of(1, done);
    std::vector<std::pair<int, size_t>> turns;
    const auto measured = measure({&plans[0], &plans[1], &plans[2]}, Executor{&pool, nullptr}, Cache::cold, 6,
                                  [&](size_t plan, int round) { turns.emplace_back(round, plan); });
    REQUIRE(measured);
    REQUIRE(turns.size() == 18);
    std::set<std::vector<size_t>> orders;
    for (size_t round = 0; round < 6; ++round) {
        std::vector<size_t> order;
        for (size_t i = 0; i < 3; ++i) {
            CHECK(turns[3 * round + i].first == static_cast<int>(round));
            order.push_back(turns[3 * round + i].second);
        }
        orders.insert(order);
    }
    CHECK(orders.size() == 6);  // all orders of three plans
    for (const Measured& each : *measured) CHECK(each.time.samples.size() == 6);
}

TEST_CASE("with hot caches a repeat follows an untimed run of the same plan", "[profiling]") {
    cpu::Pool pool(1);
    std::vector<int> one, other;
    const Plan first = plan_of(1, one), second = plan_of(1, other);
    REQUIRE(measure({&first, &second}, Executor{&pool, nullptr}, Cache::hot, 4, [](size_t, int) {}));
    CHECK(one.size() >= 8);
    CHECK(other.size() >= 8);
}

TEST_CASE("a stop of the pool cancels a measurement", "[profiling]") {
    cpu::Pool pool(1);
    std::stop_source stop;
    pool.set_stop(stop.get_token());
    std::vector<int> done;
    const Plan plan = plan_of(1, done);
    const auto measured = measure({&plan}, Executor{&pool, nullptr}, Cache::cold, 5, [&](size_t, int round) {
        if (round == 2) stop.request_stop();
    });
    REQUIRE_FALSE(measured);
    CHECK(measured.error().kind == Error::Kind::cancelled);
    CHECK(done.size() >= 2);
}

TEST_CASE("samples are cut to the active range, which starts at 0", "[profiling]") {
    const auto cut = [](const std::vector<double>& active, std::vector<double> values) {
        return cut_to(active_range(active), {"warps", "per SM", 0, 2, std::move(values)});
    };
    const Track track = cut({0, 0, 1, 90, 100, 0, 80, 0, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    // With one sample before the rise and one after the fall.
    CHECK(track.values == std::vector<double>{2, 3, 4, 5, 6, 7});
    CHECK(track.start_us == -2);
    CHECK(track.step_us == 2);
    // The range ends at the last sample but does not begin at the first one, which may include work from
    // before the launches.
    CHECK(cut({90, 50, 60}, {9, 5, 6}).values == std::vector<double>{9, 5, 6});
    CHECK(cut({50, 0, 0, 1, 1}, {5, 0, 0, 6, 7}).values == std::vector<double>{0, 6, 7});
    for (const std::vector<double>& nothing :
         {std::vector<double>{}, {5}, {0, 0}, {90, 0}, {NAN, NAN}, {1, NAN, 0}})
        CHECK(active_range(nothing).is_empty());
}

TEST_CASE("for a metric that is never 0 the samples with the largest sum are used", "[profiling]") {
    const auto busiest = [](const std::vector<double>& values, size_t count) {
        const SampleRange range = busiest_range(values, count);
        return std::pair{range.begin, range.end};
    };
    CHECK(busiest({9, 1, 1, 5, 2, 5, 1, 1}, 3) == std::pair{size_t{3}, size_t{6}});
    CHECK(busiest({9, 1, NAN, 1, 5}, 1) == std::pair{size_t{4}, size_t{5}});
    CHECK(busiest({0, 0, 0}, 2) == std::pair{size_t{1}, size_t{3}});
    CHECK(busiest({1, 2, 3}, 100) == std::pair{size_t{1}, size_t{3}});
    CHECK(busiest_range({7}, 3).is_empty());
    CHECK(busiest_range({1, 2, 3}, 0).is_empty());
}

TEST_CASE("reasons for a lower clock are readable", "[profiling]") {
    CHECK(throttle_words(0).empty());
    CHECK(throttle_words(1).empty());  // an idle GPU is not throttled
    CHECK(throttle_words(0x4) == "power cap");
    CHECK(throttle_words(0x1 | 0x4 | 0x40) == "power cap, hardware temperature limit");
    CHECK(throttle_words(0x4000) == "NVML reasons 16384");
}

TEST_CASE("theoretical occupancy is filled in if resources are known", "[profiling]") {
    const Chip chip = *cuda::chip_of("sm_90a");
    LaunchInfo known;
    known.block = {128, 1, 1};
    known.resources = Resources{32, 0, 0};
    std::vector<LaunchRecord> launches(2);
    launches[0].info = std::make_shared<const LaunchInfo>(known);
    launches[1].info = std::make_shared<const LaunchInfo>();
    add_theoretical_occupancy(launches, chip);
    CHECK(*launches[0].occupancy.theoretical == 1);
    CHECK(launches[0].occupancy.limiter == "warps");
    CHECK_FALSE(launches[1].occupancy.theoretical);
}

TEST_CASE("limits count all arrays and operations, a second", "[profiling]") {
    const LimitTimes times{.array_bytes = 1e6,
                           .copy_us = 100,
                           .triad_us = 200,
                           .operations = 5e6,
                           .operations_us = 50,
                           .launches = 256,
                           .launches_us = 512};
    const Ceilings limits = ceilings_of(times);
    CHECK(limits.copy_bytes_per_second == Approx(2e10));     // 2 arrays in 100 us
    CHECK(limits.triad_bytes_per_second == Approx(1.5e10));  // 3 arrays in 200 us
    CHECK(limits.operations_per_second == Approx(1e11));
    CHECK(limits.launch_us == Approx(2));
}

TEST_CASE("the clock of the processor is the mean of its cores, if the system reports it", "[profiling]") {
    const TemporaryFolder folder;
    CHECK_FALSE(processor_mhz(folder.path()));
    for (const auto& [core, kilohertz] : {std::pair("cpu0", "2000000\n"), {"cpu1", "3000000\n"}}) {
        std::filesystem::create_directories(folder.file(core) + "/cpufreq");
        put(folder.file(core) + "/cpufreq/scaling_cur_freq", kilohertz);
    }
    CHECK(*processor_mhz(folder.path()) == Approx(2500));
}

TEST_CASE("the arithmetic that measures a limit does as many operations as requested", "[profiling]") {
    cpu::Pool pool(2);
    constexpr double most_of_a_round = 12 * 2 * 64;  // for each worker, in vectors of at most 64 numbers
    for (const double operations : {1.0, 1e6, 3e7}) {
        const double done = cpu::multiply_add(pool, operations);
        CHECK(done >= operations);
        CHECK(done <= operations + 2 * most_of_a_round);
    }
}

TEST_CASE("the kernels that measure limits compile for each chip without spills", "[profiling][cuda]") {
    if (without_compiler()) return;
    const cuda::CompilerOptions options{shared_cache(), ""};
    for (const Chip& chip : cuda::known_chips()) {
        INFO(chip.architecture);
        const auto device = cuda::Device::theory(chip.architecture, options);
        REQUIRE(device);
        for (const char* entry : {"empty", "empty_programmatic", "triad", "multiply_add", "products"}) {
            const auto kernel = (*device)->kernel({"kernels/cuda/ceilings.cu", {}}, entry);
            if (!kernel) FAIL(kernel.error().text);
            CHECK(kernel->resources.spill_bytes == 0);
        }
    }
}

TEST_CASE("child: counters where CUPTI is hidden", "[.child]") {
    const auto problem = counters_problem();
    REQUIRE(problem);
    std::cout << problem->text << std::endl;
}

TEST_CASE("without CUPTI the error says what is missing, what is lost and what to do", "[profiling]") {
    const std::string words =
        ChildProcess("SAWTOOTH_WITHOUT=cupti", "child: counters where CUPTI is hidden").output();
    CHECK(contains(words, "CUPTI, which measures kernels"));
    CHECK(contains(words, "install the CUDA Toolkit"));
    CHECK(contains(words, "launches are timed by CUDA events"));
    CHECK(contains(words, "exit 0"));
}

}  // namespace

// Measurements on a GPU, with one test per feature of CUPTI, so that a failure names the feature.

#include <algorithm>
#include <cmath>

#include "app/engine/run/runner.h"
#include "kernels/scan/family.h"
#include "profiling/ceilings_gpu.h"
#include "profiling/clocks.h"
#include "profiling/cupti_counters.h"
#include "profiling/cupti_sampling.h"
#include "profiling/gpu_timer.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kernels/scan/run_scan.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

// The first GPU and a scan of a few megabytes; if there is no GPU, prints a note and returns nothing.
struct Bench {
    std::unique_ptr<cuda::Device> device;
    std::unique_ptr<GpuTimer> timer;
    Parameters parameters;
    Arrays inputs;

    static std::optional<Bench> open() {
        if (without_compiler()) return {};
        auto device = cuda::Device::open(0, {shared_cache(), ""});
        if (!device) {
            say_skipped(device.error().text);
            return {};
        }
        Bench bench{std::move(*device), nullptr, {}, {}};
        bench.timer = std::make_unique<GpuTimer>(*bench.device);
        bench.parameters = scan_parameters({{"length", int64_t{8192}}, {"channels", int64_t{256}}});
        bench.inputs = generated_inputs(bench.parameters);
        return bench;
    }
    Plan plan(const std::string& variant) const {
        return plan_on_device(*device, scan_family(), variant, parameters, inputs);
    }
};

Measured measured(Bench& bench, const Plan& plan) {
    auto result = measure({&plan}, Executor{nullptr, bench.timer.get()}, Cache::cold, 3, [](size_t, int) {});
    if (!result) FAIL(result.error().text);
    return std::move(result->front());
}

// Checks that launches are in order, start at 0 or later, and do not overlap.
void check_order(const std::vector<LaunchRecord>& launches, const Plan& plan) {
    constexpr double resolution_us = 1;  // the resolution of CUDA events, without CUPTI
    REQUIRE(launches.size() == plan.launches.size());
    CHECK(launches[0].start_us == 0);
    double sum = 0, end = 0;
    for (size_t i = 0; i < launches.size(); ++i) {
        INFO(i << ", " << launches[i].info->name);
        CHECK(launches[i].info->name == plan.launches[i].info->name);
        CHECK(launches[i].duration_us > 0);
        CHECK(launches[i].start_us >= end - resolution_us);
        end = launches[i].start_us + launches[i].duration_us;
        sum += launches[i].duration_us;
    }
    CHECK(sum <= end + static_cast<double>(launches.size()) * resolution_us);
}

// A machine that forbids counters is not a failure of the program.
bool is_forbidden(const Error& error) { return contains(error.text, "PRIVILEGES"); }

TEST_CASE("launches on a GPU are timed in order and without overlap, and sum up to at most the total",
          "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const Plan plan = bench->plan("three_phase");
    const Measured times = measured(*bench, plan);
    std::cout << "timed by " << (bench->timer->note().empty() ? "CUPTI" : bench->timer->note()) << std::endl;
    REQUIRE(times.time.samples.size() == 3);
    check_order(times.launches, plan);
    for (const LaunchRecord& launch : times.launches) {
        INFO(launch.info->name);
        CHECK(*launch.occupancy.theoretical > 0);
        CHECK_FALSE(launch.occupancy.limiter.empty());
    }
    for (const double sample : times.time.samples) CHECK(sample > 0);
}

TEST_CASE("CUPTI records have the grid, registers and shared memory of the compiler", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const Plan plan = bench->plan("lookback");
    const Measured times = measured(*bench, plan);
    if (!bench->timer->note().empty()) return say_skipped(bench->timer->note());
    REQUIRE(times.launches.size() == 1);
    const LaunchInfo& seen = *times.launches[0].info;
    const LaunchInfo& planned = *plan.launches[0].info;
    CHECK(seen.grid.x * seen.grid.y * seen.grid.z == planned.grid.x * planned.grid.y * planned.grid.z);
    CHECK(seen.block.x * seen.block.y * seen.block.z == planned.block.x * planned.block.y * planned.block.z);
    CHECK(seen.resources->registers == planned.resources->registers);
    CHECK(seen.resources->shared_bytes == planned.resources->shared_bytes);
}

TEST_CASE("every launch of a chain is recorded in order, for any way of timing", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const auto plan = empty_launches_plan(*bench->device, 1000, Follow::stream);
    REQUIRE(plan);
    const Executor on{nullptr, bench->timer.get()};
    const auto choice = choose_timing(*plan, on, Cache::cold, [] {});
    if (!choice) FAIL(choice.error().text);
    if (!bench->timer->note().empty()) return say_skipped(bench->timer->note());
    check_order(choice->launches, *plan);
    const auto recorded = run_plan(*plan, on, Cache::cold, TimedBy::records);
    const auto unrecorded = run_plan(*plan, on, Cache::cold, TimedBy::events);
    if (!recorded) FAIL(recorded.error().text);
    if (!unrecorded) FAIL(unrecorded.error().text);
    check_order(recorded->launches, *plan);
    CHECK(unrecorded->launches.empty());
    CHECK(unrecorded->total_us > 0);
    std::cout << "a launch costs " << unrecorded->total_us / 1000 << " us, recorded "
              << recorded->total_us / 1000 << " us; such chains are timed by "
              << (choice->by == TimedBy::events ? "events" : "records") << std::endl;
    check_order(measured(*bench, *plan).launches, *plan);
}

TEST_CASE("two plans that run alternately as graphs are captured once each", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    std::vector<Plan> plans;
    size_t started = 0;
    for (int i = 0; i < 2; ++i) {
        auto plan = empty_launches_plan(*bench->device, 10, Follow::graph);
        if (!plan) FAIL(plan.error().text);
        for (Launch& launch : plan->launches)
            launch.start = [&, start = launch.start](Queue& queue) {
                start(queue);
                ++started;
            };
        plans.push_back(std::move(*plan));
    }
    for (int repeat = 0; repeat < 3; ++repeat)
        for (const Plan& plan : plans)
            if (const auto error = bench->timer->run(plan)) FAIL(error->text);
    CHECK(started == 20);
}

TEST_CASE("every run that chooses the timing is announced first", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    Plan plan = bench->plan("three_phase");
    std::vector<std::string> events;
    plan.reset = [&, reset = plan.reset](Queue& queue) {
        events.emplace_back("run");
        if (reset) reset(queue);
    };
    REQUIRE(choose_timing(plan, Executor{nullptr, bench->timer.get()}, Cache::cold,
                          [&] { events.emplace_back("said"); }));
    REQUIRE(events.size() >= 4);  // a warm-up run and a recorded one
    for (size_t i = 0; i < events.size(); ++i) CHECK(events[i] == (i % 2 == 0 ? "said" : "run"));
}

TEST_CASE("a copy is recorded as one launch", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const auto plan = copy_plan(*bench->device, 64 << 20);
    REQUIRE(plan);
    const Measured times = measured(*bench, *plan);
    INFO(bench->timer->note());
    CHECK(times.launches.size() == 1);
    CHECK(times.time.median > 0);
    CHECK_FALSE(contains(bench->timer->note(), "recorded"));  // CUPTI also records copies
}

TEST_CASE("child: times without CUPTI", "[.child]") {
    auto bench = Bench::open();
    if (!bench) return;
    const Plan plan = bench->plan("three_phase");
    const Measured times = measured(*bench, plan);
    CHECK(times.launches.size() == plan.launches.size());
    CHECK(times.time.median > 0);
    std::cout << bench->timer->note() << std::endl;
}

TEST_CASE("without CUPTI launches are timed by CUDA events, with a note", "[profiling][gpu]") {
    if (!Bench::open()) return;
    const std::string words =
        ChildProcess("SAWTOOTH_WITHOUT=cupti,nvml", "child: times without CUPTI").output();
    INFO(words);
    CHECK(contains(words, "timed by CUDA events"));
    CHECK(contains(words, "exit 0"));
}

TEST_CASE("a stop between launches cancels, and the next run is complete", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const Plan plan = bench->plan("hillis_steele");
    REQUIRE(plan.launches.size() > 1);
    std::stop_source stop;
    size_t started = 0;
    Plan stopped = plan;
    for (Launch& launch : stopped.launches)
        launch.start = [&, start = launch.start](Queue& queue) {
            start(queue);
            ++started;
            stop.request_stop();
        };
    bench->timer->set_stop(stop.get_token());
    const auto cancelled = bench->timer->time(stopped, Cache::cold);
    REQUIRE_FALSE(cancelled);
    CHECK(cancelled.error().kind == Error::Kind::cancelled);
    CHECK(started == 1);
    CHECK_FALSE(bench->timer->abandoned());
    bench->timer->set_stop({});
    CHECK(measured(*bench, plan).launches.size() == plan.launches.size());
}

TEST_CASE("counters can be read, or the error names the setting that allows it", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    if (const auto missing = counters_problem()) return say_skipped(missing->text);
    const auto problem = try_counters(*bench->device);
    std::cout << "counters: " << (problem ? problem->text : "can be read") << std::endl;
    if (!problem) return;
    CHECK(is_forbidden(*problem));
    CHECK(contains(problem->text, "NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST_CASE("the Range Profiler counts launches, achieved occupancy among it", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const Plan plan = bench->plan("three_phase");
    Measured times = measured(*bench, plan);
    const auto before = plan.outputs();
    REQUIRE(before);
    const auto passes = read_counters(*bench->timer, plan, times.launches);
    if (!passes && is_forbidden(passes.error())) return say_skipped(passes.error().text);
    if (!passes) FAIL(passes.error().text);
    CHECK(*passes > 0);
    for (const LaunchRecord& launch : times.launches) {
        std::cout << launch.info->name << ", theory " << *launch.occupancy.theoretical << std::endl;
        for (const auto& [name, value] : launch.counters)
            std::cout << "  " << name << " " << value << std::endl;
        REQUIRE(launch.occupancy.achieved);
        CHECK(*launch.occupancy.achieved > 0);
        CHECK(*launch.occupancy.achieved <= 1);
        CHECK(launch.counters.contains("DRAM bytes"));
    }
    // Counting does not change the results, and timing still works.
    const auto after = plan.outputs();
    REQUIRE(after);
    REQUIRE(after->size() == before->size());
    for (size_t i = 0; i < after->size(); ++i)
        CHECK(std::ranges::equal((*after)[i].as<std::byte>(), (*before)[i].as<std::byte>()));
    CHECK(measured(*bench, plan).launches.size() == plan.launches.size());
}

TEST_CASE("PM Sampling gives tracks that start with the launches", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const Plan plan = bench->plan("hillis_steele");
    const Measured times = measured(*bench, plan);
    const auto tracks = sample_tracks(*bench->timer, plan, Cache::cold, times.time.median);
    if (!tracks && is_forbidden(tracks.error())) return say_skipped(tracks.error().text);
    if (!tracks) FAIL(tracks.error().text);
    CHECK(std::ranges::count(*tracks, "SM active", &Track::name) == 1);
    for (const Track& track : *tracks) {
        std::cout << track.name << " (" << track.unit << "): " << track.values.size() << " samples of "
                  << track.step_us << " us from " << track.start_us << " us on" << std::endl;
        CHECK(track.step_us > 0);
        CHECK(track.start_us == -track.step_us);  // one sample lies before the launches
        CHECK(track.values.size() > 1);
        if (track.name == "SM active") CHECK(active_range(track.values).begin == 1);
    }
}

TEST_CASE("PM Sampling follows a plan of many steps to its end", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    bench->parameters = scan_parameters({{"length", int64_t{1} << 18}, {"channels", int64_t{8}}});
    bench->inputs = generated_inputs(bench->parameters);
    const Plan plan = bench->plan("sequential");
    const double plan_us = measured(*bench, plan).time.median;
    const auto tracks = sample_tracks(*bench->timer, plan, Cache::cold, plan_us);
    if (!tracks && is_forbidden(tracks.error())) return say_skipped(tracks.error().text);
    if (!tracks) FAIL(tracks.error().text);
    REQUIRE_FALSE(tracks->empty());
    for (const Track& track : *tracks) {
        INFO(track.name << ": " << track.values.size() << " samples of " << track.step_us << " us for "
                        << plan_us << " us");
        CHECK(static_cast<double>(track.values.size()) * track.step_us > 0.8 * plan_us);
    }
}

TEST_CASE("the limits of a GPU are all measured", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const auto limits = measure_gpu_ceilings(*bench->timer, {});
    if (!limits) FAIL(limits.error().text);
    std::cout << "copy " << limits->copy_bytes_per_second / 1e12 << " TB/s, triad "
              << limits->triad_bytes_per_second / 1e12 << " TB/s, f32 "
              << limits->operations_per_second / 1e12 << " TFLOP/s, bf16 "
              << limits->gpu->bf16_operations_per_second / 1e12 << " TFLOP/s; a launch waited for "
              << limits->launch_us << " us, in a stream " << limits->gpu->launch_stream_us << ", in a graph "
              << limits->gpu->launch_graph_us << ", programmatic "
              << limits->gpu->launch_programmatic_us.value_or(0) << ", reads from L2 "
              << limits->gpu->l2_read_bytes_per_second / 1e12 << " TB/s" << std::endl;
    for (const double limit :
         {limits->copy_bytes_per_second, limits->triad_bytes_per_second, limits->operations_per_second,
          limits->gpu->bf16_operations_per_second, limits->launch_us, limits->gpu->launch_stream_us,
          limits->gpu->launch_graph_us})
        CHECK(limit > 0);
    CHECK(limits->gpu->l2_read_bytes_per_second > limits->copy_bytes_per_second);
}

TEST_CASE("the clock of a GPU is read around timed runs", "[profiling][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    auto clocks = GpuClocks::of(*bench->device);
    if (!clocks) return say_skipped(clocks.error().text);
    clocks->read_before();
    measured(*bench, bench->plan("lookback"));
    const auto seen = clocks->read_after();
    REQUIRE(seen);
    CHECK(seen->after_mhz > 0);
    CHECK(seen->highest_mhz >= seen->after_mhz);
    std::cout << seen->before_mhz << " to " << seen->after_mhz << " MHz of " << seen->highest_mhz << ", "
              << seen->throttled << std::endl;
}

Request profiled_scan(Profile profile) {
    Request request;
    request.family = "scan";
    request.backend = BackendChoice::cuda;
    request.profile = profile;
    request.repeats = 3;
    return request;
}

TEST_CASE("a run on a GPU gives outputs, errors, times, occupancy, limits and clocks", "[engine][gpu]") {
    auto bench = Bench::open();
    if (!bench) return;
    const bool has_clocks(GpuClocks::of(*bench->device));
    bench.reset();  // the runs open the GPU themselves
    for (const Profile profile : {Profile::timeline, Profile::counters, Profile::sampling, Profile::none}) {
        const auto ran = Runner(shared_cache()).run(profiled_scan(profile), {});
        if (!ran) FAIL(ran.error().text);
        const Result& result = **ran;
        for (const std::string& note : result.notes) std::cout << "note: " << note << std::endl;
        CHECK(result.complete);
        CHECK(result.backend == Backend::cuda);
        CHECK(result.ceilings->gpu);
        CHECK(result.clocks.has_value() == has_clocks);
        REQUIRE(result.variants.size() == 5);
        for (const VariantResult& variant : result.variants) {
            INFO(variant.name << variant.refused);
            REQUIRE(variant.ran());
            CHECK(variant.time->samples.size() == 3);
            CHECK(*variant.errors.at(0).rel_l2 < 1e-5);
            CHECK(variant.memory_bytes > 0);
            CHECK_FALSE(variant.compiled.empty());
            CHECK(variant.launches.empty() == (profile == Profile::none));
            for (const LaunchRecord& launch : variant.launches) CHECK(launch.occupancy.theoretical);
        }
    }
}

TEST_CASE("more memory than the GPU has is refused before allocation, with both sizes", "[engine][gpu]") {
    if (!Bench::open()) return;
    Request request = profiled_scan(Profile::timeline);
    request.memory_limit_bytes = 8 << 20;
    request.parameters.set("length", int64_t{1024});
    const auto ran = Runner(shared_cache()).run(request, {});
    REQUIRE_FALSE(ran);
    CHECK(ran.error().exit_code() == 1);
    CHECK(contains(ran.error().text, "8 MiB is allowed"));
}

TEST_CASE("a GPU number that does not exist is a usage error", "[engine][gpu]") {
    if (!Bench::open()) return;
    Request request = profiled_scan(Profile::timeline);
    request.device = 1000;
    const auto ran = Runner(shared_cache()).run(request, {});
    REQUIRE_FALSE(ran);
    CHECK(ran.error().exit_code() == 2);
}

// The kernel of the edited folder writes out of bounds.
TEST_CASE("child: a kernel that faults", "[.child]") {
    if (!Bench::open()) return;
    Workshop workshop;
    workshop.write("kernels/fault.cu", "extern \"C\" __global__ void fault(int* at) { at[1ll << 40] = 1; }");
    auto device = cuda::Device::open(0, workshop.options());
    REQUIRE(device);
    GpuTimer timer(**device);
    const auto kernel = (*device)->kernel({"kernels/fault.cu", {}}, "fault");
    REQUIRE(kernel);
    Plan plan;
    plan.launches.push_back({std::make_shared<LaunchInfo>(), [&](Queue& queue) {
                                 void* at = nullptr;
                                 void* arguments[] = {&at};
                                 cuda::launch(queue, *kernel, {1, 1, 1}, {1, 1, 1}, 0, arguments);
                             }});
    const auto error = timer.run(plan);
    REQUIRE(error);
    std::cout << error->text << (cuda::is_fatal(*error) ? ", fatal" : ", not fatal") << std::endl;
}

TEST_CASE("a kernel that faults is a fatal error with the call's name", "[profiling][gpu]") {
    if (!Bench::open()) return;
    const std::string words = ChildProcess("true;", "child: a kernel that faults").output();
    INFO(words);
    CHECK(contains(words, "cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK(contains(words, ", fatal"));
}

}  // namespace

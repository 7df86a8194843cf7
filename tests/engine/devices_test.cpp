// Which devices the program reports when libraries are hidden one at a time, and where a Request then runs.

#include "app/engine/machine/devices.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/engine/files/files.h"
#include "app/engine/run/runner.h"
#include "app/engine/wire/json.h"
#include "kernels/cuda/chips.h"
#include "kernels/families.h"
#include "tests/kit/catch.h"
#include "tests/kit/child_process.h"
#include "tests/kit/little_memory.h"
#include "tests/kit/temporary_folder.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;

Request small_scan(BackendChoice backend) {
    Request request;
    request.family = "scan";
    request.variants = {"lookback"};
    request.backend = backend;
    request.repeats = 1;
    request.threads = 1;
    request.parameters.set("length", int64_t{64});
    return request;
}

Outcome<std::shared_ptr<const Result>> run(const Request& request) {
    return Runner(shared_cache()).run(request, {});
}

std::string notes_of(const Result& result) {
    std::string all;
    for (const std::string& note : result.notes) all += note + "\n";
    return all;
}

// Returns whether a GPU would be usable if nothing were hidden.
bool has_gpu() { return !gpu_problem(); }

TEST_CASE("devices shows the processor and the GPUs, or what is missing", "[devices]") {
    Devices devices = find_devices();
    CHECK_FALSE(devices.cpu.name.empty());
    CHECK(devices.cpu.cores > 0);
    CHECK(devices.gpus.empty() == !devices.driver.has_value());
    CHECK(devices.gpu_reason.empty() == has_gpu());
    CHECK(devices.toolkit_reason.empty() == devices.toolkit.has_value());
    CHECK_FALSE(devices.counters_allowed);  // not tested yet
    CHECK_FALSE(devices.counters_reason.empty());
    try_counters(devices);
    CHECK(devices.counters_allowed == devices.counters_reason.empty());
    const auto json = nlohmann::json::parse(to_json(devices));
    for (const char* key : {"cpu", "gpus", "driver", "toolkit", "toolkit_reason", "counters"})
        CHECK(json.contains(key));
    CHECK(json["gpus"].size() == devices.gpus.size());
    CHECK(json["toolkit"].is_null() != json["toolkit_reason"].is_null());
    CHECK(json["counters"]["allowed"] == devices.counters_allowed);
}

TEST_CASE("child: devices", "[.child]") {
    Devices devices = find_devices();
    try_counters(devices);
    std::cout << to_json(devices) << std::endl;
}

TEST_CASE("child: scan on cuda", "[.child]") {
    const auto ran = run(small_scan(BackendChoice::cuda));
    std::cout << (ran ? "ran on " + (*ran)->device
                      : "exit code " + std::to_string(ran.error().exit_code()) + ": " + ran.error().text)
              << std::endl;
}

TEST_CASE("child: scan on auto", "[.child]") {
    const auto ran = run(small_scan(BackendChoice::automatic));
    REQUIRE(ran);
    std::cout << (*ran)->device << "\n" << notes_of(**ran) << std::endl;
}

TEST_CASE("child: theory", "[.child]") {
    Request request = small_scan(BackendChoice::cpu);
    request.arch = "sm_90a";
    const auto ran = run(request);
    REQUIRE(ran);
    std::cout << (*ran)->variants[0].compiled.size() << " compiled\n" << notes_of(**ran) << std::endl;
}

TEST_CASE("without a driver, devices says so and what to do", "[devices]") {
    const std::string words = ChildProcess("SAWTOOTH_WITHOUT=driver", "child: devices").output();
    CHECK(contains(words, "\"driver\": null"));
    CHECK(contains(words, "libcuda.so.1"));
    CHECK(contains(words, "install NVIDIA's driver"));
    CHECK(contains(words, "\"allowed\": false"));
    CHECK(contains(words, "exit 0"));
}

TEST_CASE("without NVRTC, devices says so and what to do", "[devices]") {
    const std::string words = ChildProcess("SAWTOOTH_WITHOUT=nvrtc", "child: devices").output();
    CHECK(contains(words, "\"toolkit\": null"));
    CHECK(contains(words, "\"toolkit_reason\": \"NVRTC"));
    CHECK(contains(words, "(libnvrtc.so) is hidden by SAWTOOTH_WITHOUT: install the CUDA Toolkit"));
    CHECK(contains(words, "exit 0"));
}

TEST_CASE("without CUPTI counters are not available, and the reason says what is lost", "[devices]") {
    const std::string words = ChildProcess("SAWTOOTH_WITHOUT=cupti", "child: devices").output();
    CHECK(contains(words, "\"allowed\": false"));
    if (has_gpu()) CHECK(contains(words, "libcupti.so"));
    CHECK(contains(words, "exit 0"));
}

TEST_CASE("backend cuda without the driver or NVRTC is a failure that names it", "[devices]") {
    const std::string no_driver = ChildProcess("SAWTOOTH_WITHOUT=driver", "child: scan on cuda").output();
    CHECK(contains(no_driver, "exit code 1: backend cuda: the CUDA driver (libcuda.so.1)"));
    const std::string no_compiler = ChildProcess("SAWTOOTH_WITHOUT=nvrtc", "child: scan on cuda").output();
    CHECK(contains(no_compiler, "exit code 1: backend cuda: "));
    if (has_gpu()) CHECK(contains(no_compiler, "NVRTC"));
}

TEST_CASE("backend auto without a driver runs on the CPU and says why", "[devices]") {
    const std::string words = ChildProcess("SAWTOOTH_WITHOUT=driver", "child: scan on auto").output();
    CHECK(contains(words, "1 thread"));
    CHECK(contains(words, "backend auto: using the CPU, because the CUDA driver (libcuda.so.1)"));
    CHECK(contains(words, "exit 0"));
}

TEST_CASE("without NVRTC a run with --arch still runs and notes why nothing was compiled", "[devices]") {
    const std::string words = ChildProcess("SAWTOOTH_WITHOUT=nvrtc", "child: theory").output();
    CHECK(contains(words, "0 compiled"));
    CHECK(contains(words, "could not compile for sm_90a: NVRTC"));
    CHECK(contains(words, "exit 0"));
}

TEST_CASE("with --arch the CUDA implementation of every variant is compiled beside the run",
          "[devices][cuda]") {
    if (without_compiler()) return;
    Request request = small_scan(BackendChoice::cpu);
    request.variants.clear();
    request.arch = "sm_89";
    const auto ran = run(request);
    REQUIRE(ran);
    const Result& result = **ran;
    CHECK(result.backend == Backend::cpu);
    REQUIRE(result.variants.size() == find_family("scan")->variants.size());
    for (const VariantResult& variant : result.variants) {
        if (!find_family("scan")->variant(variant.name)->plan_cuda) continue;
        INFO(variant.name);
        CHECK(variant.time);
        REQUIRE_FALSE(variant.compiled.empty());
        for (const CompiledLaunch& launch : variant.compiled) {
            CHECK(launch.architecture == "sm_89");
            CHECK(launch.resources.registers > 0);
            CHECK(*launch.occupancy.theoretical > 0);
            CHECK(*launch.occupancy.theoretical <= 1);
            CHECK_FALSE(launch.occupancy.limiter.empty());
        }
    }
}

TEST_CASE("a compilation is announced with its file", "[devices][cuda]") {
    if (without_compiler()) return;
    const TemporaryFolder folder;
    const LittleMemory little;
    Request request = small_scan(BackendChoice::cpu);
    request.arch = "sm_90a";
    std::string said;
    const auto ran = Runner(folder.path()).run(request, {}, [&](const Progress& progress, auto) {
        if (contains(progress.words, "compiling")) {
            CHECK(progress.excused);
            said += progress.words + "\n";
        }
    });
    REQUIRE(ran);
    CHECK(contains(said, "compiling kernels/scan/cuda/lookback"));
    CHECK(contains(said, "(first time only)"));
}

TEST_CASE("a cache that cores share counts once, and those of several chiplets count together", "[devices]") {
    const TemporaryFolder folder;
    const auto add = [&](int core, int index, const std::string& level, const char* size,
                         const char* sharing) {
        const std::string cache =
            folder.file("cpu" + std::to_string(core) + "/cache/index" + std::to_string(index));
        std::filesystem::create_directories(cache);
        CHECK_FALSE(write_file(cache + "/level", level));
        CHECK_FALSE(write_file(cache + "/size", size));
        CHECK_FALSE(write_file(cache + "/shared_cpu_list", sharing));
    };
    for (const int core : {0, 1, 2, 3}) {
        add(core, 0, "1\n", "32K\n", std::to_string(core).c_str());
        add(core, 2, "2\n", "512K\n", std::to_string(core).c_str());
        add(core, 3, "3\n", "32768K\n", core < 2 ? "0-1\n" : "2-3\n");
    }
    CHECK(last_level_caches(folder.path(), {0, 1}) == int64_t{32} << 20);
    CHECK(last_level_caches(folder.path(), {0, 1, 2, 3}) == int64_t{64} << 20);
    CHECK(last_level_caches(folder.path(), {2}) == int64_t{32} << 20);
    CHECK(last_level_caches(folder.file("nothing"), {0}) == 0);
}

}  // namespace

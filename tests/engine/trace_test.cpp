// Traces in the Trace Event Format, read back with a JSON parser.

#include "app/engine/tables/trace.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tests/kit/catch.h"
#include "tests/kit/gpu_result.h"
#include "tests/kit/workshop.h"

namespace {

using namespace sawtooth;
using Json = nlohmann::json;

std::shared_ptr<Result> two_variants_on_gpu() {
    const auto result = scan_on_gpu();
    result->variants.resize(2);
    return result;
}

Result scan_on_cpu() {
    Result result;
    result.request.family = "scan";
    result.device = "a processor";
    result.processors = 2;
    VariantResult variant;
    variant.name = "sequential";
    LaunchInfo info;
    info.name = "tiles";
    info.grid = {7, 1, 1};
    info.work = {4096, 512};
    for (int i = 0; i < 3; ++i) {
        LaunchRecord launch;
        launch.info = std::make_shared<const LaunchInfo>(info);
        launch.start_us = 10.0004 * i;
        launch.duration_us = 10.0004;
        launch.busy = {{1, 10.0004 * i + 1, 10.0004 * i + 9}, {0, 10.0004 * i + 2, 10.0004 * i + 6}};
        variant.launches.push_back(launch);
    }
    variant.launch_count = 3;
    result.variants = {variant};
    return result;
}

std::vector<Json> events_of(const Json& trace, const std::string& phase) {
    std::vector<Json> events;
    for (const Json& event : trace["traceEvents"])
        if (event["ph"] == phase) events.push_back(event);
    return events;
}

std::map<std::pair<int, int>, std::string> threads_of(const Json& trace) {
    std::map<std::pair<int, int>, std::string> names;
    for (const Json& event : events_of(trace, "M"))
        if (event["name"] == "thread_name") names[{event["pid"], event["tid"]}] = event["args"]["name"];
    return names;
}

std::vector<std::string> processes_of(const Json& trace) {
    std::vector<std::string> names;
    for (const Json& event : events_of(trace, "M"))
        if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
    return names;
}

// Checks that no two events of a thread overlap, in whole nanoseconds.
void check_nesting(const Json& trace) {
    std::map<std::pair<int, int>, std::vector<std::pair<long, long>>> spans;
    for (const Json& event : events_of(trace, "X")) {
        const long start = std::lround(1e3 * event["ts"].get<double>());
        const long length = std::lround(1e3 * event["dur"].get<double>());
        CHECK(start >= 0);
        CHECK(length >= 0);
        spans[{event["pid"], event["tid"]}].emplace_back(start, start + length);
    }
    for (auto& [thread, of_thread] : spans) {
        std::sort(of_thread.begin(), of_thread.end());
        for (size_t i = 1; i < of_thread.size(); ++i) CHECK(of_thread[i].first >= of_thread[i - 1].second);
    }
}

TEST_CASE("a trace of the CPU has a process per variant, with the launches and every worker", "[trace]") {
    const Json trace = Json::parse(to_trace(scan_on_cpu()));
    CHECK(processes_of(trace) == std::vector<std::string>{"sequential"});
    const auto threads = threads_of(trace);
    CHECK(threads.size() == 3);
    CHECK(threads.at({1, 1}) == "launches");
    CHECK(threads.at({1, 2}) == "worker 0");
    CHECK(threads.at({1, 3}) == "worker 1");
    const auto events = events_of(trace, "X");
    REQUIRE(events.size() == 9);
    CHECK(events[1]["name"] == "tiles");
    CHECK(events[1]["ts"] == 10);  // 10.0004 us, rounded to a nanosecond
    CHECK(events[1]["dur"] == 10.001);
    CHECK(events[1]["args"]["grid"] == Json({7, 1, 1}));
    CHECK(events[1]["args"]["bytes"] == 4096);
    CHECK_FALSE(events[1]["args"].contains("registers"));
    CHECK(events[3]["tid"] == 2);
    CHECK(events[3]["ts"] == 2);
    CHECK(events[3]["dur"] == 4);
    check_nesting(trace);
    CHECK(trace["otherData"]["device"] == "a processor");
    CHECK(contains(trace["otherData"]["command"].get<std::string>(), "sawtooth run scan"));
}

TEST_CASE("a trace of a GPU has resources, occupancy and counters of launches, and the samples", "[trace]") {
    const auto result = two_variants_on_gpu();
    const Json trace = Json::parse(to_trace(*result));
    CHECK(processes_of(trace).size() == 2);
    CHECK(threads_of(trace).at({2, 1}) == "stream");
    const Json launch = events_of(trace, "X").front();
    CHECK(launch["name"] == "upsweep");
    CHECK(launch["ts"] == 0);
    CHECK(launch["dur"] == 9);
    CHECK(launch["args"]["block"] == Json({256, 1, 1}));
    CHECK(launch["args"]["registers"] == 32);
    CHECK(launch["args"]["achieved_occupancy"] == 0.62);
    CHECK(launch["args"]["DRAM bytes"] == 1.25e6);
    size_t samples = 0;
    for (const VariantResult& variant : result->variants)
        for (const Track& track : variant.tracks) samples += track.values.size();
    const auto counters = events_of(trace, "C");
    REQUIRE(counters.size() == samples);
    CHECK(counters[1]["name"] == "SM active");
    CHECK(counters[1]["ts"] == 1);
    CHECK(counters[1]["args"]["%"] == result->variants[0].tracks[0].values[1]);
    check_nesting(trace);
}

TEST_CASE("launches that overlap are on threads of their own", "[trace]") {
    const auto result = two_variants_on_gpu();
    VariantResult& variant = result->variants[0];
    variant.launches = {gpu_launch("one", 0, 10, 32), gpu_launch("two", 9, 10, 32),
                        gpu_launch("three", 9.5, 1, 32), gpu_launch("four", 19, 5, 32)};
    const Json trace = Json::parse(to_trace(*result));
    check_nesting(trace);
    const auto threads = threads_of(trace);
    const auto events = events_of(trace, "X");
    const auto thread_of = [&](size_t event) { return threads.at({1, events[event]["tid"].get<int>()}); };
    CHECK(thread_of(0) == "stream");
    CHECK(thread_of(1) == "stream, overlapping 1");
    CHECK(thread_of(2) == "stream, overlapping 2");
    CHECK(thread_of(3) == "stream");
}

TEST_CASE("hostile names and numbers leave the trace valid", "[trace]") {
    const auto result = two_variants_on_gpu();
    const std::string hostile = "\"}],\n\\ \x01 \xff <script> \xe2\x82";
    VariantResult& variant = result->variants[0];
    variant.name = result->device = hostile;
    variant.launches = {gpu_launch(hostile, 0, 5, 32), gpu_launch("unknown", NAN, 5, 32),
                        gpu_launch("endless", 7, INFINITY, 32), gpu_launch("backwards", 20, -5, 32)};
    variant.launches[0].counters = {{hostile, NAN}};
    variant.tracks = {{hostile, "", -1, 1, {1, NAN, INFINITY, 2}}};
    result->variants.resize(1);
    const Json trace = Json::parse(to_trace(*result));
    const auto events = events_of(trace, "X");
    REQUIRE(events.size() == 1);
    CHECK(contains(events[0]["name"].get<std::string>(), "<script>"));
    const auto counters = events_of(trace, "C");
    REQUIRE(counters.size() == 2);
    CHECK(counters[0]["ts"] == 0);  // it began before the first launch
    CHECK(counters[1]["ts"] == 2);
    CHECK(counters[1]["args"]["value"] == 2);
}

TEST_CASE("the process of a variant says what is wrong or missing", "[trace]") {
    Result result = scan_on_cpu();
    result.variants[0].launch_count = 65536;
    CHECK(processes_of(Json::parse(to_trace(result))).front() ==
          "sequential (the first 3 of 65,536 launches)");
    result.variants[0].verdicts = {{"y", Verdict::wrong, 8, 1, {}, {}}};
    CHECK(contains(processes_of(Json::parse(to_trace(result))).front(), "(wrong, the first 3"));
    CHECK(has_launches(result));
    result.variants[0].launches.clear();
    CHECK_FALSE(has_launches(result));
    CHECK(Json::parse(to_trace(result))["traceEvents"].empty());
}

}  // namespace

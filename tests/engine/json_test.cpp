#include "app/engine/wire/json.h"
#include "app/engine/wire/ceilings_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/engine/tables/commands.h"
#include "app/engine/tables/tables.h"
#include "kernels/core/common_parameters.h"
#include "kernels/families.h"
#include "kernels/figures/timeline.h"
#include "tests/kit/catch.h"

using namespace sawtooth;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> keys_of(const Json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
}

void check_keys(const Json& object, const std::vector<std::string>& wanted) {
    INFO(object.dump());
    for (const std::string& key : wanted) {
        INFO(key);
        CHECK(object.contains(key));
    }
}

VariantResult finished_variant() {
    VariantResult variant;
    variant.name = "sequential";
    variant.memory_bytes = 4096;
    variant.work = {2e6, INFINITY};
    variant.errors = {{"y", 1e-6, std::nullopt, 2, 7, {0.5f, NAN}}};
    variant.time = TimeStatistics{10, 9, 12, {9, 10, 12}};
    LaunchInfo info;
    info.name = "rows";
    info.meaning = "Scans a row.";
    info.grid = {32, 1, 1};
    info.reads = {{"x", {2, 3}}};
    info.work = {1000, 10};
    LaunchRecord launch;
    launch.info = std::make_shared<LaunchInfo>(info);
    launch.duration_us = 10;
    launch.busy = {{0, 0, 5}};
    launch.tally = {5, 6, 7};
    variant.launches = {launch};
    variant.metrics = {{"depth", "depth", "", 12.0}, {"passes", "passes", "", std::nullopt}};
    return variant;
}

Result finished_result() {
    Result result;
    result.request.family = "scan";
    result.request.seed = 18446744073709551615u;
    result.parameters = find_family("scan")->defaults();
    result.parameters.set("op", std::string("max"));
    result.device = "a processor";
    result.work = {2e6, INFINITY};
    result.variants = {finished_variant(), {}};
    result.variants[1].name = "blelloch";
    result.variants[1].refused = "it cannot";
    result.notes = {"a \"note\" with bytes that are no text: \xFF"};
    result.complete = true;
    return result;
}

}  // namespace

TEST_CASE("the document of a run has its keys", "[json]") {
    const Json json = Json::parse(to_json(finished_result()));
    check_keys(json, {"family", "backend", "device", "seed", "parameters", "notes", "variants"});
    CHECK(json["family"] == "scan");
    CHECK(json["backend"] == "cpu");
    CHECK(json["seed"] == 18446744073709551615u);
    CHECK(json["parameters"]["length"] == 4096);
    CHECK(json["unused_parameters"] == Json{{"compensated", "only for op sum or complex_sum"}});
    CHECK(json["cache"] == "cold");
    CHECK(json["kernels"].is_null());
    CHECK(json["notes"].size() == 1);
    REQUIRE(json["variants"].size() == 2);
    const Json& variant = json["variants"][0];
    check_keys(variant, {"name", "outputs", "memory_bytes", "error_by_position", "time_us", "work",
                         "launches", "tracks", "compiled", "refused"});
    CHECK(variant["refused"].is_null());
    CHECK(variant["memory_bytes"] == 4096);
    CHECK(keys_of(variant["time_us"]) ==
          std::vector<std::string>{"median", "q1", "q3", "samples", "disturbed"});
    CHECK(variant["time_us"]["samples"].size() == 3);
    CHECK(keys_of(variant["work"]) == std::vector<std::string>{"bytes", "flops"});
    CHECK(variant["compiled"] == Json::array());
}

TEST_CASE("unknown values are null and non-finite ones are strings", "[json]") {
    const Json json = Json::parse(to_json(finished_result()));
    const Json& variant = json["variants"][0];
    CHECK(variant["outputs"]["y"]["max_abs"] == 1e-6);
    CHECK(variant["outputs"]["y"]["rel_l2"].is_null());
    CHECK(variant["outputs"]["y"]["nonfinite"] == Json{{"count", 2}, {"first", 7}});
    CHECK(variant["error_by_position"] == Json::array({0.5, nullptr}));
    CHECK(variant["work"]["flops"] == "inf");
    const Json& launch = variant["launches"][0];
    check_keys(launch, {"name", "meaning", "reads", "writes", "grid", "block", "start_us", "duration_us",
                        "registers", "shared_bytes", "spill_bytes", "counters", "occupancy"});
    CHECK(launch["registers"].is_null());
    CHECK(launch["grid"] == Json::array({32, 1, 1}));
    CHECK(launch["reads"][0]["shape"] == Json::array({2, 3}));
    CHECK(launch["writes"] == Json::array());
    CHECK(launch["counters"] == Json::object());
    CHECK(launch["occupancy"]["theoretical"].is_null());
    CHECK(launch["occupancy"]["limiter"].is_null());
    CHECK(variant["metrics"][1]["value"].is_null());
    CHECK(variant["utilisation"] >= 0.0);
    CHECK(variant["utilisation"] <= 1.0);
    CHECK(variant["idle"] == idle_share(finished_result().variants[0].launches));
    const Json& refused = json["variants"][1];
    CHECK(refused["refused"] == "it cannot");
    CHECK(refused["memory_bytes"].is_null());
    CHECK(refused["time_us"].is_null());
    CHECK(refused["outputs"] == Json::object());
    CHECK(refused["launches"] == Json::array());
    CHECK(refused["utilisation"].is_null());
    CHECK(refused["idle"].is_null());
}

TEST_CASE("the document of a run has the values of a GPU", "[json]") {
    Result result = finished_result();
    result.backend = Backend::cuda;
    VariantResult& variant = result.variants[0];
    LaunchInfo info = *variant.launches[0].info;
    info.resources = Resources{40, 2048, 0};
    variant.launches[0].info = std::make_shared<LaunchInfo>(info);
    variant.launches[0].occupancy = {0.5, std::nullopt, "registers"};
    variant.launches[0].counters = {{"dram_bytes", 1e6}};
    variant.compiled = {{"rows", "sm_90a", {32, 1024, 8}, {0.75, std::nullopt, "shared memory"}, 96}};
    variant.tracks = {{"sm active", "%", 1, 2, {3, NAN}}};
    result.clocks = Clocks{1980, 1755, 1980, "power"};
    result.ceilings = Ceilings{};
    result.ceilings->gpu = GpuCeilings{7e14, 2, 1, 0.5};
    const Json json = Json::parse(to_json(result));
    CHECK(json["backend"] == "cuda");
    const Json& launch = json["variants"][0]["launches"][0];
    CHECK(launch["registers"] == 40);
    CHECK(launch["shared_bytes"] == 2048);
    CHECK(launch["spill_bytes"] == 0);
    CHECK(launch["counters"]["dram_bytes"] == 1e6);
    CHECK(launch["occupancy"]["theoretical"] == 0.5);
    CHECK(launch["occupancy"]["limiter"] == "registers");
    CHECK(launch["occupancy"]["achieved"].is_null());
    const Json& compiled = json["variants"][0]["compiled"][0];
    CHECK(compiled["launch"] == "rows");
    CHECK(compiled["arch"] == "sm_90a");
    CHECK(compiled["threads"] == 96);
    CHECK(compiled["registers"] == 32);
    CHECK(compiled["shared_bytes"] == 1024);
    CHECK(compiled["spill_bytes"] == 8);
    CHECK(keys_of(compiled["occupancy"]) == std::vector<std::string>{"theoretical", "limiter"});
    CHECK(json["variants"][0]["tracks"][0]["values"] == Json::array({3, "nan"}));
    CHECK(json["clocks"]["after_mhz"] == 1755);
    CHECK(json["clocks"]["throttled"] == "power");
    CHECK(json["ceilings"]["gpu"]["launch_graph_us"] == 1);
    CHECK(launch["tally"].is_null());
}

TEST_CASE("the document of a sweep names axes, cells and reasons", "[json]") {
    SweepResult sweep;
    sweep.sweep.base.family = "scan";
    sweep.sweep.axes = {{"length", {int64_t{1}, int64_t{2}}}};
    sweep.cells = {{{int64_t{1}}, "too short", nullptr},
                   {{int64_t{2}}, "", std::make_shared<Result>(finished_result())}};
    sweep.complete = true;
    const Json json = Json::parse(to_json(sweep));
    CHECK(json["axes"][0]["values"] == Json::array({1, 2}));
    CHECK(json["cells"][0]["refused"] == "too short");
    CHECK(json["cells"][0]["result"].is_null());
    CHECK(json["cells"][1]["values"]["length"] == 2);
    CHECK(json["cells"][1]["result"]["family"] == "scan");
}

TEST_CASE("the document of the families has their keys", "[json]") {
    Family family;
    family.name = "scan";
    family.parameters = {integer_parameter("length", "Positions.", Group::shape, "positions", 4096, 1, 65536,
                                           Step::powers_of_two, Renews::inputs),
                         choice_parameter("op", "What.", Group::algorithm, std::string("sum"),
                                          {std::string("sum"), std::string("max")}, Renews::inputs),
                         flag_parameter("compensated", "How.", Group::numerics, false, Renews::kernels)};
    family.parameters[1] = ends_at("length", 1, only_on_cuda(only_for("op", {"max"}, family.parameters[1])));
    family.variants = {{"sequential", "One after the other.", {"y"}}};
    family.presets = {{"paper", {{"length", int64_t{8192}}}}};
    const Json json = Json::parse(families_json({&family}));
    const Json& row = json["families"][0];
    check_keys(row, {"name", "summary", "source", "variants", "parameters", "arrays", "presets"});
    check_keys(row["variants"][0], {"name", "backends", "outputs"});
    for (const Json& parameter : row["parameters"])
        check_keys(parameter, {"name", "type", "default", "unit", "meaning", "renews", "applies", "ends_at"});
    CHECK(row["parameters"][0]["applies"].is_null());
    CHECK(row["parameters"][0]["ends_at"].is_null());
    CHECK(row["parameters"][1]["applies"] == Json::array({"only for op max", "only on CUDA"}));
    CHECK(row["parameters"][1]["ends_at"] == "length - 1");
    CHECK(row["parameters"][0]["min"] == 1);
    CHECK(row["parameters"][0]["max"] == 65536);
    CHECK(row["parameters"][1]["choices"] == Json::array({"sum", "max"}));
    CHECK(row["parameters"][2]["choices"] == Json::array({false, true}));
    CHECK(row["presets"][0]["values"]["length"] == 8192);
}

TEST_CASE("the documents of bench, devices and written files have their keys", "[json]") {
    BenchReport report{"a processor", "2030-01-02", "1.0", {}};
    report.rows.push_back({"scan",
                           "long",
                           "lookback",
                           {},
                           TimeStatistics{2, 1, 3, {}},
                           "copy",
                           TimeStatistics{1, 1, 1, {}},
                           Spread{2, 1.5, 2.5},
                           {},
                           ""});
    report.rows.push_back({"scan", "long", "blelloch", {}, {}, "", {}, {}, {}, "refused"});
    const Json bench = Json::parse(to_json(report));
    check_keys(bench, {"device", "date", "version", "cases"});
    check_keys(bench["cases"][0],
               {"family", "name", "variant", "parameters", "time_us", "limit", "ratio", "errors"});
    CHECK(keys_of(bench["cases"][0]["limit"]) == std::vector<std::string>{"name", "time_us"});
    CHECK(keys_of(bench["cases"][0]["ratio"]) ==
          std::vector<std::string>{"median", "q1", "q3", "at_least", "at_most"});
    CHECK(bench["cases"][0]["bound"].is_null());
    report.rows[0].bound = Bound{Bound::By::bytes, 0.5, 0.25, {}};
    const Json bound = Json::parse(to_json(report))["cases"][0]["bound"];
    CHECK(bound == Json{{"by", "bytes"}, {"share", 0.5}, {"step_us", 0.25}, {"empty_launches", nullptr}});
    CHECK(bench["cases"][1]["time_us"].is_null());
    CHECK(bench["cases"][1]["ratio"].is_null());
    CHECK_FALSE(bench["cases"][0].contains("by_launch"));
    report.rows[0].costs = {{"clear_y", "Zeros.", 2, 4e6, TimeStatistics{8, 7, 9, {8}}, 1.5}};
    const Json launch = Json::parse(to_json(report))["cases"][0]["by_launch"][0];
    check_keys(launch, {"name", "meaning", "count", "time_us", "bytes", "gb_per_s", "over_copy"});
    CHECK(launch["gb_per_s"] == 500);
    CHECK_FALSE(bench["cases"][0].contains("counters"));
    report.rows[0].counted = "forward, memory: DRAM at 83 % of its peak";
    CHECK(Json::parse(to_json(report))["cases"][0]["counters"] == report.rows[0].counted);

    Devices devices;
    devices.counters_reason = "no GPU";
    const Json found = Json::parse(to_json(devices));
    check_keys(found, {"version", "cpu", "gpus", "driver", "toolkit", "counters"});
    CHECK(found["cpu"]["cores"].is_null());
    CHECK(found["driver"].is_null());
    CHECK(found["counters"] == Json{{"allowed", false}, {"reason", "no GPU"}});
    CHECK(Json::parse(written_json({"a", "b"})) == Json{{"written", {"a", "b"}}});
    CHECK(Json::parse(written_json({"a"}))["written"] == Json::array({"a"}));
}

TEST_CASE("cached ceilings come back unchanged, and only from a complete file", "[json]") {
    const Ceilings kept{"a processor", "2030-01-02", "Linux 6", 2000, 2, 1.5e10, 2e10, 3.25e11, 4.5};
    const std::string text = ceilings_json(kept);
    const auto read = parse_ceilings(text);
    REQUIRE(read);
    CHECK(read->processor == kept.processor);
    CHECK(read->threads == 2);
    CHECK(read->operations_per_second == 3.25e11);
    CHECK(read->launch_us == 4.5);
    CHECK_FALSE(read->gpu);
    Ceilings of_gpu = kept;
    of_gpu.gpu = GpuCeilings{7e14, 2, 1, 0.5};
    REQUIRE(parse_ceilings(ceilings_json(of_gpu)));
    CHECK(parse_ceilings(ceilings_json(of_gpu))->gpu->launch_programmatic_us == 0.5);
    of_gpu.gpu->launch_programmatic_us.reset();
    CHECK(ceilings_json(of_gpu).find("\"launch_programmatic_us\": null") != std::string::npos);
    REQUIRE(parse_ceilings(ceilings_json(of_gpu)));
    CHECK_FALSE(parse_ceilings(ceilings_json(of_gpu))->gpu->launch_programmatic_us);
    Ceilings clockless = kept;
    clockless.clock_mhz = 0;
    CHECK(ceilings_json(clockless).find("\"clock_mhz\": null") != std::string::npos);
    REQUIRE(parse_ceilings(ceilings_json(clockless)));
    CHECK(parse_ceilings(ceilings_json(clockless))->clock_mhz == 0);
    for (size_t length = 0; length + 2 < text.size(); ++length)
        CHECK_FALSE(parse_ceilings(text.substr(0, length)));
    for (const char* other : {"", "null", "[]", "{}", "{\"processor\": 3}"})
        CHECK_FALSE(parse_ceilings(other));
    CHECK_FALSE(parse_ceilings(std::string(100000, '[')));
    for (double Ceilings::*field : {&Ceilings::copy_bytes_per_second, &Ceilings::launch_us})
        for (const double value : {-1.0, 1e300}) {
            Ceilings wrong = kept;
            wrong.*field = value;
            CHECK_FALSE(parse_ceilings(ceilings_json(wrong)));
        }
    Ceilings unmeasured = kept;
    unmeasured.copy_bytes_per_second = 0;
    CHECK_FALSE(parse_ceilings(ceilings_json(unmeasured)));
}

TEST_CASE("the table of numbers has a row per variant and says why one did not run", "[tables]") {
    const Table table = numbers_table(finished_result());
    REQUIRE(table.rows.size() == 2);
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    CHECK(table.rows[0][0] == "sequential");
    CHECK(table.rows[0][1] == "10");
    CHECK(table.rows[1].back() == "it cannot");
    CHECK(table.columns[1].unit == "us");
    const Table launches = launches_table(finished_variant(), 132);
    REQUIRE(launches.rows.size() == 1);
    CHECK(launches.rows[0].size() == launches.columns.size());
    CHECK(errors_table(finished_result()).rows.size() == 1);
}

TEST_CASE("the table of a sweep has a row per cell and variant", "[tables]") {
    SweepResult sweep;
    sweep.sweep.axes = {{"length", {int64_t{1}, int64_t{2}}}};
    sweep.cells = {{{int64_t{1}}, "too short", nullptr},
                   {{int64_t{2}}, "", std::make_shared<Result>(finished_result())}};
    const Table table = sweep_table(sweep);
    REQUIRE(table.rows.size() == 3);
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    CHECK(table.rows[0].back() == "too short");
    CHECK(table.rows[1][1] == "sequential");
    CHECK(table.rows[2].back() == "it cannot");
    // Rates are of the work of the variant: some variants run only the forward pass.
    Result result = finished_result();
    result.variants[0].work.bytes = 3000;
    result.variants[0].time = TimeStatistics{2, 2, 2, {2}};
    sweep.cells[1].result = std::make_shared<Result>(result);
    size_t rate = 0;
    while (table.columns.at(rate).name != "rate") ++rate;
    CHECK(sweep_table(sweep).rows[1][rate] == "1.5");
}

TEST_CASE("a command has everything that differs from the defaults, quoted for a shell", "[tables]") {
    Request request;
    request.family = "scan";
    CHECK(command_of(request) == "sawtooth run scan");
    Request recorded = request;
    recorded.backend = BackendChoice::cuda;
    recorded.recording = "h200-2026-11";
    recorded.repeats = 3;  // which the recording does not follow
    recorded.arch = "sm_80";
    CHECK(command_of(recorded) == "sawtooth run scan --recording h200-2026-11");
    request.parameters.set("length", int64_t{777});
    request.variants = {"lookback"};
    request.seed = 2;
    request.cache = Cache::hot;
    CHECK(command_of(request) ==
          "sawtooth run scan --set length=777 --variant lookback --seed 2 --cache hot");
    request = {};
    request.family = "scan";
    request.input = "it's here.npz";
    CHECK(command_of(request) == "sawtooth run scan --input 'it'\\''s here.npz'");
}

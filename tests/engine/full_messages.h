#pragma once

#include <cmath>
#include <limits>

#include "app/engine/wire/messages.h"

// Requests, results and figures whose every field differs from its default.
namespace sawtooth {

constexpr double inf = std::numeric_limits<double>::infinity();

inline Request full_request() {
    Request request;
    request.family = "scan";
    request.variants = {"lookback", "blelloch"};
    request.backend = BackendChoice::automatic;
    request.device = 3;
    request.arch = "sm_90a";
    request.kernels = "/some/where";
    request.on = "ssh host sawtooth worker";
    request.threads = 7;
    request.preset = "paper";
    request.parameters.set("flag", true);
    request.parameters.set("count", int64_t{-4096});
    request.parameters.set("rate", 4.0);
    request.parameters.set("op", std::string("sum"));
    request.parameters.set("levels", std::vector<int64_t>{1, int64_t{1} << 40});
    request.seed = 18446744073709551615u;
    request.values = Values::denormals;
    request.optional = true;
    request.jitter = 12;
    request.multiprocessors = 5;
    request.input = "it's \xFF here.npz";
    request.repeats = 11;
    request.cache = Cache::hot;
    request.profile = Profile::sampling;
    request.extras = Extras::all;
    request.time_limit_seconds = 0.1;
    request.memory_limit_bytes = int64_t{1} << 50;
    return request;
}

inline LaunchRecord full_launch(std::shared_ptr<const LaunchInfo> info) {
    LaunchRecord launch;
    launch.info = std::move(info);
    launch.start_us = 0.1;
    launch.duration_us = 1e-300;
    launch.busy = {{0, 0.5, 1.5}, {3, 0.25, NAN}};
    launch.tally = {1, 2, 3};
    launch.occupancy = {0.75, 0.5, "registers"};
    launch.counters = {{"dram bytes", 1e12}, {"rate", -inf}};
    return launch;
}

inline VariantResult full_variant() {
    VariantResult variant;
    variant.name = "lookback";
    variant.index = 4;
    variant.refused = "no";
    variant.outputs = {Array::zeros("y", Dtype::complex64, {2, 3})};
    variant.errors = {{"y", 1e-6, std::nullopt, 2, 7, {0.5f, NAN, -INFINITY}}};
    variant.memory_bytes = int64_t{1} << 40;
    variant.time = TimeStatistics{10, 9, 12, {9, 10, 12.1}};
    auto info = std::make_shared<LaunchInfo>();
    info->name = "rows";
    info->meaning = "Scans.";
    info->grid = {32, 2, 3};
    info->grid_formula = "B * D";
    info->block = {256, 1, 1};
    info->reads = {{"x", {2, 3}}};
    info->writes = {{"y", {}}};
    info->resources = Resources{40, 1024, 8};
    info->work = {1e9, 2e9};
    auto other = std::make_shared<LaunchInfo>();
    other->name = "columns";
    variant.launches = {full_launch(info), full_launch(other), full_launch(info)};
    variant.launch_count = 5;
    variant.compiled = {{"rows", "sm_80", {1, 2, 3}, {0.5, std::nullopt, "warps"}, 64}};
    variant.tracks = {{"active", "%", 0.5, 2, {1, NAN, 3}}};
    variant.metrics = {{"id", "label", "unit", 1.5}, {"id2", "", "", std::nullopt}};
    return variant;
}

inline std::shared_ptr<const Result> full_result() {
    auto result = std::make_shared<Result>();
    result->request = full_request();
    result->parameters = result->request.parameters;
    result->device = "a GPU";
    result->host = "node7";
    result->processors = 132;
    result->inputs = {Array::zeros("x", Dtype::f32, {2, 0, 3})};
    result->reference = {Array::zeros("y", Dtype::f64, {5})};
    result->work = {2e6, inf};
    result->variants = {full_variant(), {}};
    result->ceilings = Ceilings{"a GPU", "2030-01-02", "580.1", 1980, 2,
                                1.5e10,  2e10,         3.25e11, 4.5,  GpuCeilings{1, 2, 3, 4}};
    result->clocks = Clocks{1000, 1500.5, 1980, "power"};
    result->notes = {"one", "two"};
    result->complete = true;
    return result;
}

inline std::vector<Figure> all_marks() {
    Figure figure;
    figure.id = "figure";
    figure.place = Place::timeline;
    figure.title = "title";
    figure.caption = "caption";
    figure.x = {"time", "us", Scale::log2, 1.0, std::nullopt, 2.0, {"a", "b"}, true, true, "time"};
    figure.y = {"error", "", Scale::log10, std::nullopt, inf, {}, {}, false, false, ""};
    const Ink ink{Ink::Role::accent, 3, true};
    figure.marks = {
        Line{"line",
             ink,
             {0, 1},
             {NAN, -inf},
             true,
             {"chunk", {1, 2}},
             {},
             {"", "unstable: 3x"},
             {"first", "second"},
             false},
        Band{"band", ink, {0, 1}, {1, 2}, {3, 4}},
        Bars{{{ink, {{"one", 1.5}, {"two", 2}}, 0.5, std::nullopt, "text"}}, 12.0},
        HeatMap{"heat",
                "unit",
                1,
                2,
                {1, NAN},
                -1,
                2,
                -3,
                4,
                HeatMap::Colours::diverging,
                true,
                1.0,
                {"one", "refused"},
                {"unstable: 3x", ""},
                {{0, 1, "best", ink}},
                {"BLOCK_N", {16, 32}},
                {"BLOCK_M", {64}}},
        Matrix{{"row"}, {"one", "other"}, {{"kind", ink}}, {0, -1}, {"", "text"}},
        KindMap{"tile",
                {{"near", ink, KindMap::Pattern::crossed}},
                {"row"},
                {"one", "other"},
                {0, 0},
                -1,
                2,
                -3,
                4},
        Tree{{{1, 2, "node", true}, {3, 4, "", false}}, {{0, 1, true, true, "2 KiB"}}},
        Tracks{{{"track", ink, {{1, 2, "span", 0.5}}, {0.5}, {NAN}, "%"}}},
        Rule{Rule::Across::y, 1.5, "rule", ink},
        Note{1, 2, "note"},
    };
    Figure missing;
    missing.missing = "how to get it";
    return {figure, missing};
}

}  // namespace sawtooth

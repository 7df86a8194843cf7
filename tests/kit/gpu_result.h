#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/engine/run/configure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// A Result like one from a GPU, with invented numbers: launches with resources, counters, sampled tracks,
// clocks.
inline LaunchRecord gpu_launch(const std::string& name, double start_us, double duration_us, int registers) {
    LaunchInfo info;
    info.name = name;
    info.meaning = "Adds up tiles of " + std::to_string(registers) + " rows and keeps their sums.";
    info.grid = {64, 4, 1};
    info.grid_formula = "ceil(length / 64) x ceil(channels / 4)";
    info.block = {256, 1, 1};
    info.reads = {{"x", {2, 4096}}, {"a", {2, 4096}}};
    info.writes = {{"sums", {2, 64}}};
    info.resources = Resources{registers, 16384, registers > 100 ? 24 : 0};
    info.work = {1e6, 1e5};
    LaunchRecord launch;
    launch.info = std::make_shared<const LaunchInfo>(std::move(info));
    launch.start_us = start_us;
    launch.duration_us = duration_us;
    launch.occupancy = {0.75, 0.62, "registers"};
    launch.counters = {{"DRAM bytes", 1.25e6}, {"SM throughput (%)", 43}};
    return launch;
}

inline std::vector<Track> gpu_tracks(double until_us) {
    std::vector<Track> tracks{
        {"SM active", "%", 0, 1, {}}, {"warps", "per SM", 0, 1, {}}, {"DRAM throughput", "%", 0, 1, {}}};
    for (double at = 0; at < until_us; ++at) {
        const double wave = 0.5 + 0.5 * std::sin(at / 4);
        tracks[0].values.push_back(95 * wave);
        tracks[1].values.push_back(41 * wave);
        tracks[2].values.push_back(60 * (1 - wave));
    }
    return tracks;
}

inline std::shared_ptr<Result> gpu_result(const Request& request, const std::string& device) {
    auto result = std::make_shared<Result>();
    result->request = request;
    const auto family = find_offered_family(request.family);
    result->parameters = (*family)->defaults();
    result->device = device;
    result->backend = Backend::cuda;
    result->processors = 132;
    result->work = {2e6, 1e6};
    result->timed = result->complete = true;
    result->clocks = Clocks{1980, 1755, 1980, "power cap"};
    for (size_t i = 0; i < (*family)->variants.size(); ++i) {
        VariantResult variant;
        variant.name = (*family)->variants[i].name;
        variant.index = static_cast<int>(i);
        const double each = 9.0 + 4 * static_cast<double>(i);
        variant.launches = {gpu_launch("upsweep", 0, each, 32), gpu_launch("fold", each + 2, 3, 24),
                            gpu_launch("downsweep", each + 7, each, 40 + 32 * static_cast<int>(i))};
        const double whole = 2 * each + 7;
        variant.time = TimeStatistics{whole, whole - 1, whole + 2, {whole - 1, whole, whole + 2}};
        variant.tracks = gpu_tracks(whole);
        variant.memory_bytes = 3 << 20;
        result->variants.push_back(std::move(variant));
    }
    return result;
}

// Adds compiler resources of the same launches for a chip that is not present.
inline void add_compiled(Result& result, const std::string& architecture) {
    for (VariantResult& variant : result.variants)
        for (const LaunchRecord& launch : variant.launches)
            if (launch.info->resources)
                variant.compiled.push_back({launch.info->name, architecture, *launch.info->resources,
                                            Occupancy{0.5, {}, "shared memory"}});
}

inline std::shared_ptr<Result> scan_on_gpu() {
    Request request;
    request.family = "scan";
    request.backend = BackendChoice::cuda;
    return gpu_result(request, "a GPU");
}

}  // namespace sawtooth

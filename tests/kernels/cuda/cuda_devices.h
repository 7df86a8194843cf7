#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kernels/core/plan.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/occupancy.h"
#include "profiling/gpu_timer.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"

// The devices for tests of kernels, shared by all test cases: one theoretical device per chip, and the GPU.
namespace sawtooth {

inline cuda::CompilerOptions options() { return {shared_cache(), ""}; }

// A theoretical device; prints a note and returns null if NVRTC is missing. A quick one is for tests that ask
// only whether kernels compile. These have the tag [compile] alone, which test.sh runs in a process of its
// own, because after a quick compilation NVRTC makes other code of every kernel (with 13.0 one grew from 55
// to 66 KB).
inline cuda::Device* theory(const std::string& architecture, bool quick = false) {
    if (const auto version = cuda::compiler_version(); !version) {
        say_skipped(version.error().text);
        return nullptr;
    }
    static std::map<std::pair<std::string, bool>, std::unique_ptr<cuda::Device>> devices;
    auto& device = devices[{architecture, quick}];
    cuda::CompilerOptions given = options();
    given.quick = quick;
    if (!device) device = std::move(*cuda::Device::theory(architecture, given));
    return device.get();
}

// The GPU, or why there is none.
inline const Outcome<std::unique_ptr<cuda::Device>>& opened_gpu() {
    static const Outcome<std::unique_ptr<cuda::Device>> device = [] {
        const auto version = cuda::compiler_version();
        return version ? cuda::Device::open(0, options()) : version.error();
    }();
    return device;
}

// The GPU; prints a note and returns null if there is none.
inline cuda::Device* gpu() {
    if (opened_gpu()) return opened_gpu()->get();
    say_skipped(opened_gpu().error().text);
    return nullptr;
}

inline Plan plan_on_device(cuda::Device& device, const Family& family, const std::string& variant,
                           const Parameters& parameters, const Arrays& inputs, bool dry = false) {
    auto plan = make_plan({.family = family,
                           .variant = *family.variant(variant),
                           .parameters = parameters,
                           .inputs = inputs,
                           .dry = dry,
                           .device = &device,
                           .stores_extras = true});
    if (!plan) FAIL(variant << ": " << plan.error().text);
    return std::move(*plan);
}

// Whether a variant gives the same bits every time, which it need not if atomics of a GPU add floats.
inline bool keeps_bits(const Variant& variant, const Parameters& parameters, Backend backend) {
    return backend == Backend::cpu || !variant.is_unordered(parameters);
}

// Returns a plan for inputs that only have shapes.
inline Plan plan_in_theory(cuda::Device& device, const std::string& variant, const Parameters& parameters,
                           bool dry = false, bool with_optional = true) {
    const Family& family = family_of(parameters);
    return plan_on_device(device, family, variant, parameters,
                          input_shapes(family, parameters, with_optional), dry);
}

// Runs the same plan twice, launched as it asks for, so that data left by one run cannot hide an error of the
// next.
inline Outcome<Arrays> outcome_on_device(cuda::Device& device, const Family& family,
                                         const std::string& variant, const Parameters& parameters,
                                         const Arrays& inputs, int repeats = 2) {
    const Plan plan = plan_on_device(device, family, variant, parameters, inputs);
    GpuTimer timer(device);
    Outcome<Arrays> first = Arrays();
    for (int repeat = 0; repeat < repeats; ++repeat) {
        if (const auto error = timer.run(plan)) return *error;
        auto outputs = plan.outputs();
        if (repeat == 0) {
            first = std::move(outputs);
            continue;
        }
        CHECK(static_cast<bool>(outputs) == static_cast<bool>(first));
        if (first && outputs && keeps_bits(*family.variant(variant), parameters, Backend::cuda))
            CHECK(same_bits(*first, *outputs));
    }
    return first;
}
inline Arrays run_on_device(cuda::Device& device, const Family& family, const std::string& variant,
                            const Parameters& parameters, const Arrays& inputs, int repeats = 2) {
    auto outputs = outcome_on_device(device, family, variant, parameters, inputs, repeats);
    if (!outputs) FAIL(variant << ": " << outputs.error().text);
    return std::move(*outputs);
}

// Returns what is wrong with the description of a compiled launch, "" if nothing is. Unlike CHECK it may be
// called from any thread.
inline std::string faults_of(const LaunchInfo& info, const Chip& chip, int64_t most_spill_bytes) {
    if (!info.resources) return info.name + ": no resources; ";
    const Occupancy occupancy = cuda::theoretical_occupancy(chip, info.block.x, *info.resources);
    std::string faults;
    const auto need = [&](bool holds, const std::string& what) {
        if (!holds) faults += info.name + ": " + what + "; ";
    };
    need(info.resources->registers > 0, "no registers");
    need(info.resources->spill_bytes <= most_spill_bytes,
         "spills " + std::to_string(info.resources->spill_bytes) + " bytes");
    need(occupancy.theoretical.value_or(0) > 0, "no occupancy");
    need(!info.grid_formula.empty(), "no formula of the grid");
    need(!info.meaning.empty(), "no meaning");
    need(info.work.bytes > 0, "no bytes");
    return faults;
}

}  // namespace sawtooth

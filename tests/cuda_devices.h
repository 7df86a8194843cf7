#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/core/plan.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/occupancy.h"
#include "tests/catch.h"

// The devices of the tests of kernels: one of each chip in theory, and the GPU, for all test cases.
namespace sawtooth {

// Cubins are kept in the build folder: a second run of the tests compiles nothing.
inline cuda::CompilerOptions options() { return {SAWTOOTH_BUILD_DIR "/test-cubins", ""}; }

// A chip in theory; null where NVRTC is missing, which is said.
inline cuda::Device* theory(const std::string& architecture) {
    if (const auto version = cuda::compiler_version(); !version) {
        say_skipped(version.error().text);
        return nullptr;
    }
    static std::map<std::string, std::unique_ptr<cuda::Device>> devices;
    auto& device = devices[architecture];
    if (!device) device = std::move(*cuda::Device::theory(architecture, options()));
    return device.get();
}

// The GPU; null where there is none, which is said.
inline cuda::Device* gpu() {
    static Outcome<std::unique_ptr<cuda::Device>> device = [] {
        const auto version = cuda::compiler_version();
        return version ? cuda::Device::open(0, options()) : version.error();
    }();
    if (device) return device->get();
    say_skipped(device.error().text);
    return nullptr;
}

// What every compiled launch must say of itself.
inline void check_compiled(const LaunchInfo& info, const Chip& chip, int64_t most_spill_bytes) {
    INFO(info.name);
    REQUIRE(info.resources);
    CHECK(info.resources->registers > 0);
    CHECK(info.resources->spill_bytes <= most_spill_bytes);
    CHECK(*cuda::theoretical_occupancy(chip, info.block.x, *info.resources).theoretical > 0);
    CHECK_FALSE(info.grid_formula.empty());
    CHECK_FALSE(info.meaning.empty());
    CHECK(info.work.bytes > 0);
}

}  // namespace sawtooth

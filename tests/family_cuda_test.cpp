// Properties of every family, variant and setting in CUDA: of plans on theoretical devices, which need no
// GPU, and of kernel results if there is one.

#include <iostream>
#include <map>
#include <utility>

#include "kernels/cuda/chips.h"
#include "tests/cuda_devices.h"
#include "tests/family_coverage.h"
#include "tests/family_properties.h"

namespace sawtooth {
namespace {

Plan plan_in_theory(cuda::Device& device, const Family& family, const CoveringSetting& setting,
                    bool dry = false) {
    const Arrays inputs = input_shapes(family, setting.parameters, true);
    return plan_on_device(device, family, setting.variant->name, setting.parameters, inputs, dry);
}

// The number of kernels compiled for the chip of the device, from the cache or not.
int64_t check_compiled(cuda::Device& device, const Family& family,
                       const std::vector<CoveringSetting>& settings) {
    int64_t kernels = 0;
    for (const CoveringSetting& setting : settings) {
        INFO(device.chip().architecture << " " << family.name << " " << setting.variant->name << " "
                                        << words_of(family, setting.parameters));
        const Plan plan = plan_in_theory(device, family, setting);
        const Plan dry = plan_in_theory(device, family, setting, true);
        CHECK(plan.memory_bytes == dry.memory_bytes);
        CHECK(plan.launch_bytes == dry.launch_bytes);
        CHECK(device.warnings() == "");
        std::shared_ptr<const LaunchInfo> last;
        for (const Launch& launch : plan.launches) {
            if (std::exchange(last, launch.info) == launch.info) continue;  // one launch per token
            check_compiled(*launch.info, device.chip(), INT64_MAX);
            ++kernels;
        }
    }
    return kernels;
}

// For every family and chip: settings_of(family, device).
template <class SettingsOf>
void check_all_compiled(int64_t most_compiles, SettingsOf&& settings_of) {
    for (const Family* family : all_families()) {
        if (!family->has_kernels()) continue;
        for (const Chip& chip : cuda::known_chips()) {
            cuda::Device* const device = theory(chip.architecture);
            if (!device) return;
            int64_t compiles = 0;
            device->on_compiling([&](const std::string&) { ++compiles; });
            const auto settings = settings_of(*family, *device);
            const int64_t kernels = check_compiled(*device, *family, settings);
            device->on_compiling({});
            INFO(family->name << " for " << chip.architecture);
            REQUIRE(kernels > 0);
            CHECK(compiles <= most_compiles);
            std::cout << family->name << " for " << chip.architecture << ": " << kernels << " launches of "
                      << settings.size() << " settings, " << compiles << " kernels compiled" << std::endl;
        }
    }
}

TEST_CASE("every value of every tiling parameter compiles without a warning for every chip",
          "[family][cuda]") {
    check_all_compiled(60, [](const Family& family, cuda::Device& device) {
        return covering_settings(family, device, device.chip().architecture == "sm_90a");
    });
}

TEST_CASE("every combination of tiling values compiles for every chip", "[.tilings]") {
    check_all_compiled(INT64_MAX, [](const Family& family, const cuda::Device& device) {
        return tiling_grid(family, device.chip());
    });
}

TEST_CASE("launches on CUDA match their descriptions and give the results of the CPU",
          "[family][random][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    for_every_family("described launches", device->chip(), nullptr, {}, [&](RandomCase& drawn) {
        const Arrays shapes = without_data(drawn.inputs);
        const Plan plan =
            plan_on_device(*device, drawn.family, drawn.variant.name, drawn.parameters, shapes, true);
        const Plan on_cpu = plan_on_cpu(drawn.family, drawn.variant.name, drawn.parameters, drawn.inputs);
        return check_described(plan, shapes, *on_cpu.outputs());
    });
}

Runs on_gpu(cuda::Device& device) {
    return {device.chip(), [&device](const RandomCase& drawn, const Arrays& inputs) {
                return run_on_device(device, drawn.family, drawn.variant.name, drawn.parameters, inputs);
            }};
}

TEST_CASE("every variant gives the same results on CUDA and on the CPU", "[family][random][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    for_every_family("CUDA against CPU", device->chip(), nullptr, {}, [&](RandomCase& drawn) {
        const Rounding rounding = rounding_of(drawn.variant, drawn.parameters, Backend::cuda);
        const Wanted wanted =
            wanted_of_cpu(drawn.family, drawn.variant, drawn.parameters, drawn.inputs, rounding.products);
        const auto wild = wild_sequences(drawn.family, drawn.parameters, wanted);
        const Runs runs = on_gpu(*device);
        return check_outputs(drawn, runs.chip, runs.run(drawn, drawn.inputs), wanted, wild);
    });
}

TEST_CASE("non-finite values spread on CUDA only as far as in the reference", "[family][random][cuda][gpu]") {
    if (cuda::Device* const device = gpu()) check_strange_numbers(on_gpu(*device));
}

TEST_CASE("sequences of a batch are independent on CUDA", "[family][random][cuda][gpu]") {
    if (cuda::Device* const device = gpu()) check_separate_sequences(on_gpu(*device));
}

TEST_CASE("later positions do not change earlier ones on CUDA", "[family][random][cuda][gpu]") {
    if (cuda::Device* const device = gpu()) check_causal_prefixes(on_gpu(*device), true);
}

}  // namespace
}  // namespace sawtooth

// Properties of every family, variant and setting on CUDA: of plans on theoretical devices, which need no
// GPU, and of the results of kernels if there is a GPU.

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "kernels/cuda/chips.h"
#include "kernels/cuda/device_sources.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kernels/families/family_coverage.h"
#include "tests/kernels/families/family_properties.h"

namespace sawtooth {
namespace {

// The outcome of compiling a family for one chip. It is checked later, because assertions belong to the
// thread of the test.
struct CompiledFamily {
    std::string name, faults;
    size_t settings;
    int64_t launches = 0, kernels = 0;  // kernels: compiled ones, not those of the cache
};

CompiledFamily compile(cuda::Device& device, const Family& family,
                       const std::vector<CoveringSetting>& settings) {
    CompiledFamily compiled{family.name + " for " + device.chip().architecture, "", settings.size()};
    device.on_compiling([&](const std::string&) { ++compiled.kernels; });
    std::string warnings = device.warnings();  // of all families so far
    for (const CoveringSetting& setting : settings) {
        const Arrays inputs = input_shapes(family, setting.parameters, true);
        const auto planned = [&](bool dry) {
            return make_plan({.family = family,
                              .variant = *setting.variant,
                              .parameters = setting.parameters,
                              .inputs = inputs,
                              .dry = dry,
                              .device = &device,
                              .stores_extras = true});
        };
        const auto plan = planned(false), dry = planned(true);
        std::string faults;
        if (!plan || !dry) {
            faults = (plan ? dry : plan).error().text;
        } else {
            if (plan->memory_bytes != dry->memory_bytes) faults += "memory_bytes of a dry plan; ";
            if (plan->launch_bytes != dry->launch_bytes) faults += "launch_bytes of a dry plan; ";
            std::shared_ptr<const LaunchInfo> last;
            for (const Launch& launch : plan->launches) {
                if (std::exchange(last, launch.info) == launch.info) continue;  // one launch per token
                faults += faults_of(*launch.info, device.chip(), INT64_MAX);
                ++compiled.launches;
            }
        }
        const std::string now = device.warnings();
        if (now != warnings) faults += now;
        warnings = now;
        if (faults.empty()) continue;
        compiled.faults +=
            setting.variant->name + " " + words_of(family, setting.parameters) + ": " + faults + "\n";
    }
    device.on_compiling({});
    return compiled;
}

// Compiles settings_of(family, device) for every family and chip, on one thread per processor; each NVRTC
// uses one. Chips with many settings come first, so that no thread is left with one of them at the end.
template <class SettingsOf>
void check_all_compiled(bool quick, int64_t most_kernels, const SettingsOf& settings_of) {
    struct Work {
        cuda::Device* device;
        std::vector<std::pair<const Family*, std::vector<CoveringSetting>>> settings = {};
        size_t count = 0;
    };
    std::vector<Work> works;
    for (const Chip& chip : cuda::known_chips()) {
        Work& work = works.emplace_back(Work{theory(chip.architecture, quick)});
        if (!work.device) return;
        for (const Family* family : all_families())
            if (family->has_kernels()) {
                work.settings.emplace_back(family, settings_of(*family, *work.device));
                work.count += work.settings.back().second.size();
            }
    }
    std::ranges::stable_sort(works, std::greater(), &Work::count);
    std::atomic<size_t> next = 0;
    const auto compile_chips = [&] {
        std::vector<CompiledFamily> all;
        for (size_t at; (at = next++) < works.size();)
            for (const auto& [family, settings] : works[at].settings)
                all.push_back(compile(*works[at].device, *family, settings));
        return all;
    };
    std::vector<std::future<std::vector<CompiledFamily>>> threads;
    for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i)
        threads.push_back(std::async(std::launch::async, compile_chips));
    for (auto& thread : threads)
        for (const CompiledFamily& compiled : thread.get()) {
            INFO(compiled.name);
            CHECK(compiled.launches > 0);
            CHECK(compiled.kernels <= most_kernels);
            CHECK(compiled.faults == "");
            std::cout << compiled.name << ": " << compiled.launches << " launches of " << compiled.settings
                      << " settings, " << compiled.kernels << " kernels compiled" << std::endl;
        }
}

TEST_CASE("every value of every tiling parameter compiles without a warning", "[compile]") {
    // The oldest and the newest chip cover every value; Hopper, which has its own kernels, every value and
    // launch of every variant. The code for the others is that for the oldest or the newest, as the next test
    // checks, so that every file shows whether the assembler takes it.
    const std::map<std::string, Coverage> coverages = {{"sm_80", Coverage::values},
                                                       {"sm_90a", Coverage::values_of_every_variant},
                                                       {"sm_120", Coverage::values}};
    check_all_compiled(true, 64, [&](const Family& family, cuda::Device& device) {
        const auto found = coverages.find(device.chip().architecture);
        return covering_settings(family, device, found == coverages.end() ? Coverage::files : found->second);
    });
}

TEST_CASE("the code of kernels depends on the chip only before Hopper, on Hopper and from then on",
          "[family][cuda]") {
    const std::set<std::string> known = {"#if __CUDA_ARCH__ >= 900", "#ifdef __CUDA_ARCH_FEAT_SM90_ALL"};
    for (const cuda::EmbeddedSource& source : cuda::embedded_sources()) {
        std::istringstream lines{std::string(source.text)};
        for (std::string line; std::getline(lines, line);) {
            INFO(source.name << ": " << line);
            CHECK((line.find("__CUDA_ARCH") == std::string::npos || known.contains(line)));
        }
    }
}

// With the optimisations of the program, on every chip.
TEST_CASE("every combination of tiling values compiles for every chip", "[.tilings]") {
    check_all_compiled(false, INT64_MAX, [](const Family& family, const cuda::Device& device) {
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

TEST_CASE("every variant is right on CUDA over random settings", "[family][random][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    for_every_family("right on CUDA", device->chip(), nullptr, {},
                     [&](RandomCase& drawn) { return check_right(device->chip(), drawn, drawn.inputs); });
}

TEST_CASE("non-finite values spread on CUDA only as far as in the reference", "[family][random][cuda][gpu]") {
    if (cuda::Device* const device = gpu()) check_strange_numbers(device->chip());
}

TEST_CASE("sequences of a batch are independent on CUDA", "[family][random][cuda][gpu]") {
    if (cuda::Device* const device = gpu()) check_separate_sequences(device->chip());
}

TEST_CASE("later positions do not change earlier ones on CUDA", "[family][random][cuda][gpu]") {
    if (cuda::Device* const device = gpu()) check_causal_prefixes(device->chip(), true);
}

}  // namespace
}  // namespace sawtooth

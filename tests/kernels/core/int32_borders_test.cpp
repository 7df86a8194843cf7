// Dry plans at the borders of int32: arrays of 2^31 elements and more are planned with sizes that fit, or
// refused with a sentence.

#include <algorithm>
#include <cmath>

#include "app/engine/run/configure.h"
#include "kernels/core/integers.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kernels/families/family_random.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"

namespace sawtooth {
namespace {

constexpr int64_t border = int64_t{1} << 31;

int64_t largest_array(const Family& family, const Parameters& parameters) {
    Arrays inputs;
    int64_t largest = 0;
    for (const ArraySpec& row : family.arrays) {
        if (!row.is_used(parameters)) continue;
        const Shape shape = row.shape_for(parameters, inputs);
        largest = std::max(largest, count_of(shape));
        if (row.role != Role::output)
            inputs.push_back({row.name, row.dtype_with(parameters), shape, nullptr});
    }
    return largest;
}

// Returns settings whose largest array has about 2^31 elements: one dimension grows, the others are those of
// a preset.
std::vector<Parameters> at_the_border(const Family& family, const Preset& preset, Backend backend) {
    std::vector<Parameters> found;
    for (const Parameter& row : family.parameters) {
        if (row.group != Group::shape || row.type != Type::integer) continue;
        for (int64_t value = 1; static_cast<double>(value) <= row.maximum; value *= 2) {
            Settings settings(preset.values.begin(), preset.values.end());
            settings.emplace_back(row.name, value);
            if (family.parameter("backward")) settings.emplace_back("backward", true);
            const Parameters parameters = settled(family, settings, {}, backend);
            if (row.check(value) || (family.check && family.check(parameters))) continue;
            const int64_t count = largest_array(family, parameters);
            if (count >= border / 2 && count <= 4 * border) found.push_back(parameters);
        }
    }
    return found;
}

// Returns whether there is a plan.
bool check_plan(const Family& family, const Variant& variant, const Parameters& parameters,
                cuda::Device* device) {
    const auto plan = make_plan({.family = family,
                                 .variant = variant,
                                 .parameters = parameters,
                                 .inputs = input_shapes(family, parameters),
                                 .dry = true,
                                 .device = device,
                                 .stores_extras = true});
    if (!plan) {
        CHECK(plan.error().kind != Error::Kind::cancelled);
        CHECK_FALSE(plan.error().text.empty());
        return false;
    }
    CHECK(plan->memory_bytes > 0);
    if (device) CHECK(plan->memory_bytes >= 2 * largest_array(family, parameters));
    CHECK(plan->launch_bytes > 0);
    for (const Launch& launch : plan->launches) {
        const LaunchInfo& info = *launch.info;
        INFO(info.name);
        for (const Extent& extent : {info.grid, info.block}) {
            CHECK(extent.x > 0);
            CHECK(extent.y > 0);
            CHECK(extent.z > 0);
        }
        for (const Buffers& uses : {info.reads, info.writes}) {
            CHECK(bytes_of(uses) >= 0);
            CHECK(bytes_of(uses) < 1e16);
        }
        CHECK(info.work.operations >= 0);
    }
    return true;
}

TEST_CASE("plans for arrays of 2^31 elements have sizes that fit", "[family][cuda]") {
    for (const Family* family : families()) {
        if (family->presets.empty()) continue;
        int64_t planned = 0;
        for (cuda::Device* const device : {static_cast<cuda::Device*>(nullptr), theory("sm_90a")}) {
            const Backend backend = device ? Backend::cuda : Backend::cpu;
            const Chip& chip = device ? device->chip() : processor;
            for (const Preset& preset : family->presets)
                for (const Parameters& parameters : at_the_border(*family, preset, backend))
                    for (const Variant& variant : family->variants) {
                        if (!variant.runs_on(backend) || variant.refusal(parameters, chip)) continue;
                        INFO(family->name << " " << variant.name << " on " << name_of(backend) << ": "
                                          << words_of(*family, parameters));
                        planned += check_plan(*family, variant, parameters, device);
                    }
        }
        INFO(family->name);
        CHECK(planned > 0);
    }
}

}  // namespace
}  // namespace sawtooth

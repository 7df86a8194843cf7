#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/pool.h"
#include "kernels/scan/family.h"
#include "profiling/measure.h"

namespace sawtooth {

using Settings = std::vector<std::pair<std::string, Value>>;

inline std::vector<std::string> variant_names() {
    std::vector<std::string> names;
    for (const Variant& variant : scan_family().variants) names.push_back(variant.name);
    return names;
}

inline Parameters scan_parameters(const Settings& settings) {
    Parameters parameters = scan_family().defaults();
    for (const auto& [name, value] : settings) parameters.set(name, value);
    scan_family().settle(parameters, {}, Backend::cpu);
    return parameters;
}

// Generated inputs, rounded to the dtype; optional ones too when asked for.
inline Arrays scan_inputs(const Parameters& parameters, bool with_optional = false, uint64_t seed = 1) {
    Arrays inputs;
    const Family& family = scan_family();
    for (const ArraySpec& spec : family.arrays) {
        if (spec.role == Role::output || !spec.is_used(parameters)) continue;
        if (spec.role == Role::optional && !with_optional) continue;
        inputs.push_back(family.generate(spec, parameters, inputs, Random(seed, spec.name), {}));
        Array& array = inputs.back();
        if (array.dtype == Dtype::f32)
            cpu::round_to(cpu::precision_named(parameters.text("dtype")), array.as<float>().data(),
                          array.count());
    }
    return inputs;
}

struct ScanRun {
    Arrays outputs;
    std::vector<LaunchRecord> launches;

    Tally tally() const {
        Tally sum;
        for (const LaunchRecord& launch : launches) sum += launch.tally;
        return sum;
    }
};

// One variant, run twice over the same plan, so that what a run leaves behind cannot help the next.
inline ScanRun run_scan(const std::string& variant, const Parameters& parameters, const Arrays& inputs,
                        cpu::Pool& pool) {
    const Plan plan = scan_family().variant(variant)->plan_cpu({parameters, inputs});
    ScanRun run;
    for (int repeat = 0; repeat < 2; ++repeat) run_plan(plan, pool, Cache::hot, run.launches);
    run.outputs = *plan.outputs();
    return run;
}

// How many values are not what is wanted where that is not a number or infinite, or are where it is neither.
inline int64_t differing_in_kind(const Array& got, const Array& wanted) {
    int64_t differing = 0;
    for (int64_t i = 0; i < wanted.count(); ++i) {
        const double is = got.value(i).real(), should = wanted.value(i).real();
        differing += !(std::isnan(should)   ? std::isnan(is)
                       : std::isinf(should) ? is == should
                                            : std::isfinite(is));
    }
    return differing;
}

}  // namespace sawtooth

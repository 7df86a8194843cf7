#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/engine/run/definitions.h"
#include "kernels/figures/correctness.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kernels/families/family_random.h"
#include "tests/kit/catch.h"

// Runs variants and judges their outputs as the engine does, for tests.
namespace sawtooth {

// The verdicts on all outputs of the variant. `shared` keeps the definitions of one setting for other
// variants.
inline std::vector<OutputVerdict> judged(const Family& family, const std::string& name,
                                         const Parameters& parameters, const Arrays& inputs,
                                         const Arrays& outputs, Backend backend = Backend::cpu,
                                         Definitions* shared = nullptr) {
    const Variant& variant = *family.variant(name);
    const Configuration setting{&family, backend, parameters, {}, {}, 0, false, {}};
    const Arrays no_reference;
    const Definitions::Source source{setting, backend, inputs, no_reference, true, 0};
    Definitions own;
    const auto expected = (shared ? shared : &own)->find(source, variant, {});
    if (!expected) FAIL(name << ": " << expected.error().text);
    std::vector<OutputVerdict> verdicts;
    for (const std::string& output : variant.outputs) {
        INFO(name << " " << output);
        const Array* const got = find(outputs, output);
        const bool is_defined =
            std::ranges::any_of(**expected, [&](const Expected& one) { return one.want.name == output; });
        REQUIRE(is_defined == (got != nullptr));
        if (!got) continue;  // these parameters do not use the output
        verdicts.push_back(verdicts_on({*got}, variant, source, **expected, {})->front());
        REQUIRE(verdicts.back().verdict != Verdict::pending);  // otherwise the output has another shape
    }
    return verdicts;
}

// Fails the test for every wrong output; returns how many numbers are right.
inline int64_t check_verdicts(const std::vector<OutputVerdict>& verdicts) {
    int64_t right = 0;
    for (const OutputVerdict& verdict : verdicts) {
        INFO(wrong_sentence(verdict));
        CHECK(verdict.verdict != Verdict::wrong);
        right += verdict.verdict == Verdict::right ? verdict.judged : 0;
    }
    return right;
}

// The CPU, followed by the GPU if there is one.
inline std::vector<Backend> backends() {
    return opened_gpu() ? std::vector{Backend::cpu, Backend::cuda} : std::vector{Backend::cpu};
}

// A variant on a backend.
struct Implementation {
    const Family& family;
    const Variant& variant;
    Backend backend;
    std::string name = variant.name + (backend == Backend::cpu ? " on the CPU" : " on the GPU");

    Outcome<Arrays> outcome(const Parameters& parameters, const Arrays& inputs) const {
        if (backend == Backend::cuda)
            return outcome_on_device(*gpu(), family, variant.name, parameters, inputs);
        std::vector<LaunchRecord> launches;
        return outcome_on(pool_of_one(), plan_on_cpu(family, variant.name, parameters, inputs), launches);
    }
    Arrays run(const Parameters& parameters, const Arrays& inputs) const {
        auto outputs = outcome(parameters, inputs);
        if (!outputs) FAIL(name << ": " << outputs.error().text);
        return std::move(*outputs);
    }
};
// Returns all variants on the CPU, and on the GPU if there is one.
inline std::vector<Implementation> implementations(const Family& family) {
    std::vector<Implementation> all;
    for (const Variant& variant : family.variants)
        for (const Backend backend : backends())
            if (variant.runs_on(backend)) all.push_back({family, variant, backend});
    return all;
}

// Judges every variant that accepts these parameters on the backend; each must have right numbers.
inline void check_variants(const Parameters& parameters, const Arrays& inputs,
                           Backend backend = Backend::cpu) {
    const Family& family = family_of(parameters);
    const Chip& chip = backend == Backend::cpu ? processor : gpu()->chip();
    Definitions definitions;
    bool is_judged = false;
    for (const Variant& variant : family.variants) {
        if (!variant.runs_on(backend) || variant.refusal(parameters, chip)) continue;
        const Implementation implementation{family, variant, backend};
        INFO(implementation.name << ": " << words_of(family, parameters));
        CHECK(check_verdicts(judged(family, variant.name, parameters, inputs,
                                    implementation.run(parameters, inputs), backend, &definitions)) > 0);
        is_judged = true;
    }
    CHECK(is_judged);
}

// Judges every variant that accepts these parameters on every backend that is there.
inline void check_on_every_backend(const Parameters& parameters, const Arrays& inputs) {
    for (const Backend backend : backends()) check_variants(parameters, inputs, backend);
}

// Checks that any number of threads gives the same bits.
inline void check_any_threads(const std::string& variant, const Parameters& parameters,
                              const Arrays& inputs) {
    const Arrays alone = run(variant, parameters, inputs).outputs;
    for (const int threads : {2, 3, 7}) {
        cpu::Pool pool(threads);
        INFO(variant << " threads " << threads << " " << words_of(family_of(parameters), parameters));
        CHECK(same_bits(run(variant, parameters, inputs, pool).outputs, alone));
    }
}

// Checks that every run on the CPU writes every number of every output. Returns the outputs.
inline Arrays check_writes_all(const std::string& variant, const Parameters& parameters,
                               const Arrays& inputs) {
    const Plan plan = plan_on_cpu(family_of(parameters), variant, parameters, inputs);
    // These arrays share the memory of the plan.
    Arrays shared = run(plan, pool_of_one()).outputs;
    const Arrays before = copied(shared);
    for (Array& output : shared) fill(output, NAN);
    INFO(variant << " " << words_of(family_of(parameters), parameters));
    CHECK(same_bits(run(plan, pool_of_one()).outputs, before));
    return before;
}

}  // namespace sawtooth

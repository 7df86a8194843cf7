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
    const Configuration setting{&family, backend, parameters, {}, {}, false, {}};
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
        verdicts.push_back(verdict_on(*got, variant, source, **expected));
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
    static const bool has_gpu = gpu();
    return has_gpu ? std::vector{Backend::cpu, Backend::cuda} : std::vector{Backend::cpu};
}

// Judges every variant that accepts these parameters on the backend.
inline void check_variants(const Family& family, const Parameters& parameters, const Arrays& inputs,
                           Backend backend = Backend::cpu) {
    const Chip& chip = backend == Backend::cpu ? processor : gpu()->chip();
    Definitions definitions;
    int64_t right = 0;
    for (const Variant& variant : family.variants) {
        if (!variant.runs_on(backend) || variant.refusal(parameters, chip)) continue;
        INFO(variant.name << " on " << name_of(backend) << ": " << words_of(family, parameters));
        const Arrays outputs = backend == Backend::cpu
                                   ? run(family, variant.name, parameters, inputs).outputs
                                   : run_on_device(*gpu(), family, variant.name, parameters, inputs);
        right +=
            check_verdicts(judged(family, variant.name, parameters, inputs, outputs, backend, &definitions));
    }
    CHECK(right > 0);
}

}  // namespace sawtooth

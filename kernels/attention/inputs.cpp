// Generated inputs, the minimum of work, and the cases of `bench`.

#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/fill.h"
#include "kernels/core/storage.h"

namespace sawtooth::attention {
namespace {

// Makes a case with a name such as "forward bf16 [1, 32, 8192, 64]". Its inputs are rotated, as published
// times do not include a prologue.
BenchCase bench_case(bool backward, const std::string& dtype, int64_t heads, int64_t length, int64_t d,
                     int64_t window) {
    BenchCase bench;
    bench.name =
        (backward ? "forward and backward " : "forward ") + dtype + " " + to_text(Shape{1, heads, length, d});
    bench.values = {{"H", heads},     {"N", length},    {"D", d},         {"window", window},
                    {"form", "four"}, {"dtype", dtype}, {"causal", true}, {"backward", backward}};
    bench.limit = BenchCase::Limit::products;
    return bench;
}

// Adds cases with the tiles that were fastest on an H100. Each case has one variant, so that a variant that
// the chip cannot run does not fail the others.
void add_gpu_cases(std::vector<BenchCase>& cases, bool backward, const std::string& dtype, int64_t d,
                   const std::vector<std::string>& variants) {
    for (const std::string& variant : variants) {
        const bool wgmma = variant == "streaming_wgmma", wide = d > 64;
        BenchCase bench = bench_case(backward, dtype, 32, 8192, d, 2048);
        bench.values.insert(bench.values.end(),
                            {{"BLOCK_M", int64_t{wgmma && !wide && !backward ? 256 : 128}},
                             {"BLOCK_N", int64_t{wgmma ? 128 : 64}},
                             {"warps", int64_t{wgmma || wide ? 8 : 4}},
                             {"warps_backward", int64_t{8}},
                             {"stages", int64_t{2}}});
        bench.variants = {variant};
        cases.push_back(bench);
    }
}

}  // namespace

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array = Array::uninitialised(spec.name, Dtype::f32, spec.shape_for(parameters, so_far));
    fill(array.as<float>(), stop, [&] { return random.normal(); });
    return array;
}

// Counts inputs read once, outputs written once, and two products of D numbers forward and five backward per
// pair that the mask allows. The encoding that a pair does not use is not counted.
Work work(const Parameters& parameters, const Arrays&) {
    const int64_t n = parameters.integer("N"), n_q = parameters.integer("N_q");
    const double sequences = static_cast<double>(parameters.integer("Z"));
    const double heads = sequences * static_cast<double>(parameters.integer("H"));
    const double d = static_cast<double>(parameters.integer("D"));
    const double rows = heads * static_cast<double>(n_q), of_queries = rows * d;
    const double of_keys = sequences * static_cast<double>(parameters.integer("H_kv") * n) * d;
    const auto element = static_cast<double>(bytes_of(storage_named(parameters.text("dtype"))));
    const bool qkv = parameters.is("form", "qkv"), backward = runs_backward(parameters);
    const double pairs = heads * mask_of(parameters).pairs(n - n_q, n);
    Work work;
    work.bytes = element * (of_queries * (qkv ? 2 : 3) + of_keys * (qkv ? 2 : 3)) + rows * 4;
    work.operations = 4 * pairs * d;
    if (!backward) return work;
    work.bytes += of_queries * (element + 4 * (qkv ? 3 : 2)) + of_keys * 4 * (qkv ? 4 : 3) + rows * 4;
    work.operations += 10 * pairs * d;
    return work;
}

std::vector<BenchCase> bench_cases(Backend backend) {
    std::vector<BenchCase> cases;
    if (backend == Backend::cpu) {
        for (const bool backward : {false, true})
            cases.push_back(bench_case(backward, "f32", 8, 2048, 64, 512));
        return cases;
    }
    for (const bool backward : {false, true}) {
        add_gpu_cases(cases, backward, "bf16", 64, {"streaming", "streaming_wgmma", "naive"});
        add_gpu_cases(cases, backward, "f16", 64, {"streaming", "streaming_wgmma"});
        add_gpu_cases(cases, backward, "bf16", 128, {"streaming", "streaming_wgmma"});
    }
    return cases;
}

}  // namespace sawtooth::attention

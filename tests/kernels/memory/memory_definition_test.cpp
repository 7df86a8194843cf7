// The definitions of the strategies in float64, what random roundings do to them, and kernels against both.

#include <set>

#include "app/engine/run/values.h"
#include "kernels/core/noisy.h"
#include "kernels/memory/formulas/vectors.h"
#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace memory_facts;

// Small settings; the last chunk, tile and shard are short.
Settings usual(const std::string& rule) {
    return {{"rule", rule},         {"batch", int64_t{2}},    {"length", int64_t{150}},
            {"d", int64_t{12}},     {"compress", int64_t{5}}, {"slot_count", int64_t{5}},
            {"chunk", int64_t{70}}, {"C_G", int64_t{48}},     {"C_L", int64_t{11}}};
}

std::set<std::string> names_of(const Arrays& arrays) {
    std::set<std::string> names;
    for (const Array& array : arrays) names.insert(array.name);
    return names;
}

constexpr double tolerance_of_sums = 1e-12;

TEST_CASE("the definition of an exact strategy is the reference", "[memory]") {
    const std::string rule = any_rule();
    const int64_t chunk = GENERATE(1, 9, 70, 1000);
    const auto parameters = parameters_with(with(usual(rule), {{"chunk", chunk}}));
    const Arrays inputs = inputs_for(parameters), wanted = reference_for(parameters, inputs);
    int64_t exact = 0;
    for (const std::string& strategy : strategies_for(parameters)) {
        if (!is_exact(strategy, parameters)) continue;
        ++exact;
        INFO(strategy << " " << rule << " chunk " << chunk);
        for (const Array& output : definition_of(strategy, parameters, inputs)) {
            INFO(output.name);
            CHECK(distance(output, *find(wanted, output.name)) < tolerance_of_sums);
        }
    }
    CHECK(exact >= (chunk == 1 ? 3 : 2));
}

TEST_CASE("strategies with the same errors have the same definition", "[memory]") {
    const std::string rule = GENERATE("titans", "delta", "hebbian", "atlas", "atlas_omega");
    const std::string readout = GENERATE("evolving", "boundary");
    const auto parameters =
        parameters_with(with(usual(rule), {{"readout", readout}, {"omega_window", int64_t{80}}}));
    const Arrays inputs = inputs_for(parameters);
    const Arrays wanted = definition_of("chunkwise_gd", parameters, inputs);
    for (const char* const strategy : {"associative_scan", "atlas_parallel"}) {
        if (memory_family().variant(strategy)->refusal(parameters, Chip{})) continue;
        for (const Array& output : definition_of(strategy, parameters, inputs)) {
            INFO(strategy << " " << output.name);
            CHECK(distance(output, *find(wanted, output.name)) < tolerance_of_sums);
        }
    }
}

TEST_CASE("a definition has the outputs of its strategy, extras on request", "[memory]") {
    const std::string rule = any_rule();
    const auto parameters =
        parameters_with(with(usual(rule), {{"levels", std::vector<int64_t>{1, 40, 500}}}));
    const Arrays inputs = inputs_for(parameters);
    for (const std::string& strategy : strategies_for(parameters)) {
        INFO(strategy << " " << rule);
        const Variant& variant = *memory_family().variant(strategy);
        const Ran ran = run(strategy, parameters, inputs);
        const Arrays defined = definition_of(strategy, parameters, inputs);
        CHECK(names_of(defined) == names_of(ran.outputs));
        for (const Array& output : defined) CHECK(output.shape == ran[output.name].shape);
        const auto without = names_of(*memory::definition({variant, parameters, inputs}));
        CHECK(without.count("boundaries") == 0);
        CHECK(defined.size() - without.size() == (rule == "trellis" ? 0 : 1));
    }
}

TEST_CASE("a level is defined as chunkwise_gd at its chunk, read at the boundary", "[memory]") {
    const std::string rule = any_rule();
    const std::vector<int64_t> levels = {1, 40, 500};
    const auto parameters = parameters_with(with(usual(rule), {{"levels", levels}}));
    const Arrays inputs = inputs_for(parameters);
    const Arrays together = definition_of("chunkwise_gd", parameters, inputs);
    const auto all = find(together, "level_y")->as<double>();
    const size_t size = 150 * 12;
    for (size_t level = 0; level < levels.size(); ++level) {
        const auto alone =
            parameters_with(with(usual(rule), {{"chunk", levels[level]}, {"readout", "boundary"}}));
        const Arrays wanted = definition_of("chunkwise_gd", alone, inputs);
        const auto y = find(wanted, "y")->as<double>();
        for (size_t b = 0; b < 2; ++b)
            CHECK(std::equal(y.begin() + static_cast<std::ptrdiff_t>(b * size),
                             y.begin() + static_cast<std::ptrdiff_t>((b + 1) * size),
                             all.begin() + static_cast<std::ptrdiff_t>((b * levels.size() + level) * size)));
    }
    CHECK(same_bits(*find(together, "pulse"), *find(reference_for(parameters, inputs), "pulse")));
}

TEST_CASE("a definition ends when it is stopped", "[memory]") {
    const auto parameters = parameters_with(usual(any_rule()));
    const Arrays inputs = inputs_for(parameters);
    std::stop_source source;
    source.request_stop();
    for (const std::string& strategy : strategies_for(parameters)) {
        DefinitionRequest request = definition_request(strategy, parameters, inputs);
        request.stop = source.get_token();
        INFO(strategy);
        CHECK_FALSE(memory::definition(request));
    }
}

TEST_CASE("kernels are right within what roundings explain, and other rules are not", "[memory][cpu]") {
    const std::string rule = any_rule();
    const std::string dtype = GENERATE("f32", "bf16");
    const auto settings = with(usual(rule), {{"dtype", dtype}});
    const auto parameters = parameters_with(settings);
    const Arrays inputs = inputs_for(parameters);
    Arrays others = inputs;  // one value of one token differs by a hundredth
    for (Array& array : others)
        if (array.name == "v") {
            Array changed = Array::uninitialised("v", Dtype::f32, array.shape);
            std::copy_n(array.as<float>().begin(), array.count(), changed.as<float>().begin());
            changed.as<float>()[12 * 40 + 3] += 0.015625f;
            array = changed;
        }
    for (const std::string& strategy : strategies_for(parameters)) {
        const Arrays outputs = run(strategy, parameters, inputs).outputs;
        for (const OutputVerdict& verdict : judged(memory_family(), strategy, parameters, inputs, outputs)) {
            INFO(strategy << " " << rule << " " << dtype << " " << verdict.output);
            CHECK(verdict.verdict == Verdict::right);
        }
        // Atlas takes a hundredth of a value so little into account that bf16 hides it in y, and the other
        // outputs of tnt depend on the mean of y.
        if (strategy == "tnt" && rule == "atlas" && dtype == "bf16") continue;
        int64_t wrong = 0;
        for (const OutputVerdict& verdict : judged(memory_family(), strategy, parameters, others, outputs))
            wrong += verdict.verdict == Verdict::wrong;
        INFO(strategy << " " << rule << " " << dtype);
        CHECK(wrong > 0);
    }
}

TEST_CASE("of many long sequences of tokens the first and the last are judged", "[memory][cpu]") {
    // The sequences together have a little more than 2^22 numbers, the most that are judged.
    constexpr int64_t length = 350'000, d = 4, first = 2 * d + 1;
    const auto parameters =
        parameters_with({{"rule", "atlas"}, {"batch", int64_t{3}}, {"length", length}, {"d", d}});
    const Arrays inputs = inputs_for(parameters);
    Ran ran = run("sequential", parameters, inputs);
    const auto y = find(ran.outputs, "y")->as<float>();
    y[first] += 1;
    y[length * d] += 1;  // the second sequence
    y.back() += 1;
    for (const OutputVerdict& verdict :
         judged(memory_family(), "sequential", parameters, inputs, ran.outputs)) {
        INFO(verdict.output);
        CHECK(verdict.verdict == (verdict.output == "y" ? Verdict::wrong : Verdict::right));
        if (verdict.output != "y") continue;
        CHECK(verdict.judged == 2 * length * d);
        CHECK(verdict.elements == 2);
    }
}

// With two numbers a key, the errors of hundreds of tokens add up to memories of a few numbers.
TEST_CASE("exact_chunk is right at chunks of any length", "[memory][cpu]") {
    const auto [length, chunk] = GENERATE(table<int64_t, int64_t>({{1571, 395}, {8192, 768}, {8192, 3000}}));
    const auto parameters =
        parameters_with({{"rule", "delta"}, {"length", length}, {"d", int64_t{2}}, {"chunk", chunk}});
    Arrays inputs = generated_inputs(memory_family(), parameters, false, 907);
    for (Array& input : inputs)
        place_values(Values::huge, input, false, Storage::f32, Random(907, input.name + " values"));
    const Arrays outputs = run("exact_chunk", parameters, inputs).outputs;
    INFO(chunk);
    check_verdicts(judged(memory_family(), "exact_chunk", parameters, inputs, outputs));
}

TEST_CASE("frozen errors are not those of another chunk", "[memory][cpu]") {
    const std::string rule = GENERATE("titans", "delta", "atlas_omega", "lattice", "trellis");
    const auto parameters = parameters_with(usual(rule));
    const auto another = parameters_with(with(usual(rule), {{"chunk", int64_t{71}}}));
    const Arrays inputs = inputs_for(parameters);
    const Arrays outputs = run("chunkwise_gd", another, inputs).outputs;
    const auto verdict_with = [&](const Parameters& chunk) {
        return judged(memory_family(), "chunkwise_gd", chunk, inputs, outputs)[0].verdict;
    };
    CHECK(verdict_with(another) == Verdict::right);
    CHECK(verdict_with(parameters) == Verdict::wrong);
}

TEST_CASE("only products of matrices on a GPU round their factors", "[memory]") {
    const std::string strategy = GENERATE("sequential", "sequential_persistent", "associative_scan",
                                          "chunkwise_gd", "atlas_parallel", "exact_chunk", "tnt");
    const std::string rule = strategy == "atlas_parallel" ? "atlas_omega" : "delta";
    const bool has_products =
        strategy == "chunkwise_gd" || strategy == "atlas_parallel" || strategy == "exact_chunk";
    for (const auto& [precision, unit] :
         {std::pair{"f32", 0.0}, std::pair{"tf32", 0x1p-11}, std::pair{"bf16", 0x1p-8}}) {
        const auto parameters =
            parameters_with(with(usual(rule), {{"precision", precision}, {"dtype", "bf16"}}));
        const Variant& variant = *memory_family().variant(strategy);
        const Rounding on_gpu = rounding_of(memory_family(), variant, parameters, Backend::cuda);
        INFO(strategy << " " << precision);
        CHECK(on_gpu.narrow == (has_products ? unit : 0));
        CHECK(rounding_of(memory_family(), variant, parameters, Backend::cpu).narrow == 0);
        // Their roundings reach the outputs.
        const Arrays inputs = inputs_for(parameters);
        DefinitionRequest request = definition_request(strategy, parameters, inputs);
        const Arrays exact = *memory::definition(request);
        request.noisy = true;
        const NoiseScope noise(on_gpu, 1);
        const Arrays drawn = *memory::definition(request);
        for (const char* const name : {"y", "m"}) {
            const double moved = distance(*find(drawn, name), *find(exact, name));
            CHECK(moved < (on_gpu.narrow > 0 ? 2 * unit : 1e-6));
            CHECK(moved > (on_gpu.narrow > 0 ? unit / 50 : 1e-9));
        }
    }
}

}  // namespace
}  // namespace sawtooth

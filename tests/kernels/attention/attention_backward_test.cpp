// The backward pass of streaming_wgmma that multiplies with groups of four warps.

#include <cmath>
#include <set>

#include "app/engine/check/battery.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/values.h"
#include "kernels/core/common_parameters.h"
#include "kernels/cuda/chips.h"
#include "tests/kernels/attention/run_attention.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace attention_facts;

struct Tiles {
    int64_t d, block_m, block_n, warps_backward, step;
};

// Every shape that the kernel has: steps of one and of two panels of queries, one and two groups.
const std::vector<Tiles> tiles_of_groups = {
    {64, 64, 64, 4, 64}, {64, 128, 128, 8, 128}, {64, 256, 128, 8, 128}, {128, 64, 128, 8, 64}};

Settings settings_for(const Tiles& tiles, const Settings& more) {
    return with({{"D", tiles.d},
                 {"BLOCK_M", tiles.block_m},
                 {"BLOCK_N", tiles.block_n},
                 {"warps", int64_t{tiles.block_m > 64 ? 8 : 4}},
                 {"warps_backward", tiles.warps_backward},
                 {"backward", true}},
                more);
}

Parameters parameters_for(const Tiles& tiles, const Settings& more) {
    return settled(attention_family(), settings_for(tiles, more), {}, Backend::cuda);
}

// The other variants would take most of the time.
void check_on_gpu(const Parameters& parameters, const Arrays& inputs) {
    const Family& family = attention_family();
    const Arrays outputs = run_on_device(*gpu(), family, "streaming_wgmma", parameters, inputs);
    check_verdicts(judged(family, "streaming_wgmma", parameters, inputs, outputs, Backend::cuda));
}

TEST_CASE("groups multiply in the backward pass where its tiles are whole groups and fit the registers",
          "[attention]") {
    for (const Tiles& tiles : tiles_of_groups)
        CHECK(attention::backward_step(parameters_for(tiles, {})) == tiles.step);
    for (const Tiles& tiles : {Tiles{32, 64, 64, 4, 0}, Tiles{64, 32, 64, 4, 0}, Tiles{64, 64, 128, 8, 0},
                               Tiles{64, 128, 64, 8, 0}, Tiles{128, 64, 64, 4, 0}, Tiles{64, 128, 256, 8, 0}})
        CHECK(attention::backward_step(parameters_for(tiles, {})) == 0);
}

TEST_CASE("only the backward pass that adds in memory may change its last bits", "[attention]") {
    const Variant& variant = *attention_family().variant("streaming_wgmma");
    const auto adding = parameters_for(tiles_of_groups[0], {});
    CHECK(variant.is_unordered(adding));
    CHECK_FALSE(variant.is_unordered(parameters_for(tiles_of_groups[0], {{"backward", false}})));
    CHECK_FALSE(variant.is_unordered(parameters_for({64, 64, 64, 8, 0}, {})));
    CHECK_FALSE(attention_family().variant("streaming")->is_unordered(adding));
}

TEST_CASE("a battery meets the backward pass of groups in both masks, with far pairs and a cache",
          "[attention][check]") {
    Request base;
    base.family = "attention";
    base.backend = BackendChoice::cuda;
    Battery battery(attention_family(), base, *cuda::chip_of("sm_90a"));
    std::set<std::string> met;
    for (int64_t left = battery.size(); left > 0; --left) {
        const auto request = battery.next();
        REQUIRE(request);
        const Parameters p = settled_values(attention_family(), request->parameters, Backend::cuda);
        if (request->variants.front() != "streaming_wgmma" || !runs_backward(p) ||
            attention::backward_step(p) == 0)
            continue;
        met.insert(p.flag("causal") ? "causal" : "both directions");
        if (p.integer("N_q") < p.integer("N")) met.insert("a cache");
        if (p.integer("window") < p.integer("N")) met.insert("far pairs");
    }
    CHECK(met == std::set<std::string>{"a cache", "both directions", "causal", "far pairs"});
}

TEST_CASE("launches of the backward pass say which kernel runs", "[attention][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    for (const Tiles& tiles : tiles_of_groups)
        for (const int64_t sharing : {1, 4}) {
            const auto parameters =
                parameters_for(tiles, {{"H", int64_t{4}}, {"H_kv", 4 / sharing}, {"N", int64_t{300}}});
            const bool dry = sharing > 1;
            const Plan plan = plan_in_theory(*device, "streaming_wgmma", parameters, dry);
            const auto launch = [&](const std::string& name) {
                return std::find_if(plan.launches.begin(), plan.launches.end(),
                                    [&](const Launch& one) { return one.info->name == name; })
                    ->info;
            };
            CHECK(contains(launch("preprocess")->meaning, "Clears dq1 and dq2."));
            CHECK(contains(launch("backward")->meaning, "added in memory"));
            CHECK(launch("backward")->grid.x == (300 + tiles.block_n - 1) / tiles.block_n);
            CHECK(launch("backward")->grid.y == 4 / sharing);
            if (!dry) CHECK(faults_of(*launch("backward"), device->chip(), 256) == "");  // a few words
        }
    const Plan other =
        plan_in_theory(*device, "streaming_wgmma", parameters_for({64, 64, 64, 8, 0}, {}), true);
    for (const Launch& launch : other.launches) CHECK_FALSE(contains(launch.info->meaning, "in memory"));
}

TEST_CASE("the backward pass of groups is right around the borders of tiles", "[attention][cuda][gpu]") {
    if (!gpu()) return;
    const Tiles tiles = GENERATE(from_range(tiles_of_groups));
    const auto [causal, dtype] = GENERATE(table<bool, const char*>({{true, "bf16"}, {false, "f16"}}));
    for (const int64_t window : {1, 129})
        for (const auto& [length, queries] : {std::pair<int64_t, int64_t>{1, 1}, {129, 129}, {300, 170}}) {
            const auto parameters = parameters_for(tiles, {{"Z", int64_t{2}},
                                                           {"H", int64_t{4}},
                                                           {"H_kv", int64_t{2}},
                                                           {"N", length},
                                                           {"N_q", queries},
                                                           {"window", window},
                                                           {"causal", causal},
                                                           {"dtype", dtype}});
            check_on_gpu(parameters, generated_inputs(parameters));
        }
}

// Scores of absent keys are 0, so that their probabilities would be huge.
TEST_CASE("absent keys beside scores far below 0 change no gradient in groups", "[attention][cuda][gpu]") {
    if (!gpu()) return;
    const Tiles tiles = GENERATE(from_range(tiles_of_groups));
    const auto [causal, dtype] =
        GENERATE(table<bool, const char*>({{true, "f16"}, {false, "f16"}, {false, "bf16"}}));
    for (const int64_t window : {40, 150}) {
        const auto parameters = parameters_for(tiles, {{"H", int64_t{2}},
                                                       {"N", int64_t{150}},
                                                       {"window", window},
                                                       {"causal", causal},
                                                       {"form", "four"},
                                                       {"dtype", dtype}});
        Arrays inputs = generated_inputs(parameters);
        for (const char* const queries : {"q1", "q2"})
            for (float& number : find(inputs, queries)->as<float>()) number = 4;
        for (const char* const keys : {"k1", "k2"})
            for (float& number : find(inputs, keys)->as<float>()) number = std::round(number) / 8 - 4;
        check_on_gpu(parameters, inputs);
    }
}

// Beside the changed vector lie pairs of the same tile that are hidden: masked, or of the other encoding.
TEST_CASE("a number that is not finite reaches only the gradients that see it in groups",
          "[attention][cuda][gpu]") {
    if (!gpu()) return;
    const Tiles tiles = GENERATE(from_range(tiles_of_groups));
    const auto [array, value, position] =
        GENERATE(table<const char*, float, int64_t>({{"k1", INFINITY, 130},
                                                     {"k2", -INFINITY, 3},
                                                     {"v", NAN, 99},
                                                     {"v", INFINITY, 149},
                                                     {"q1", NAN, 5},
                                                     {"q2", INFINITY, 70},
                                                     {"do", INFINITY, 39}}));
    const auto parameters = parameters_for(tiles, {{"H", int64_t{2}},
                                                   {"N", int64_t{150}},
                                                   {"window", int64_t{40}},
                                                   {"form", "four"},
                                                   {"dtype", "f16"}});
    Arrays inputs = generated_inputs(parameters);
    find(inputs, array)->as<float>()[static_cast<size_t>(position * tiles.d + 3)] = value;
    check_on_gpu(parameters, inputs);
}

}  // namespace
}  // namespace sawtooth

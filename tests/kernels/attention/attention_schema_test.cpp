// The schema of windowed rotary attention: facts from its documentation.

#include <cmath>
#include <string>

#include "tests/kernels/families/schema_facts.h"

using namespace sawtooth;
using namespace sawtooth::schema_facts;

TEST_CASE("attention: given arrays select their form, and the default is qkv", "[schema][attention]") {
    const Arrays four = {floats("k2", {1, 2, 3, 16})}, qkv = {floats("k", {1, 2, 150, 64})};
    CHECK(settled("attention").text("form") == "qkv");
    CHECK(settled("attention", {}, four).text("form") == "four");
    CHECK(settled("attention", {}, qkv).text("form") == "qkv");
    CHECK(uses("attention", "q1", {}, four));
    CHECK_FALSE(uses("attention", "q", {}, four));
    CHECK_FALSE(uses("attention", "q1", {}));
    CHECK(uses("attention", "v", {}, four));
    CHECK_FALSE(uses("attention", "dq", {{"backward", true}}, four));
    CHECK(uses("attention", "dq", {{"backward", true}}));
    CHECK(uses("attention", "dq1", {{"backward", true}}));
    CHECK(shape_of("attention", "lse", {{"N", 150}}) == Shape{1, 2, 150});
    CHECK(shape_of("attention", "dq2", {{"N", 3}, {"D", 16}, {"backward", true}}, four) ==
          Shape{1, 2, 3, 16});
}

TEST_CASE("attention: both forms together are refused unless one is chosen", "[schema][attention]") {
    const Arrays both = {floats("q", {1, 2, 3, 16}), floats("q1", {1, 2, 3, 16})};
    CHECK(contains(family_refusal("attention", {}, both), "qkv or four"));
    CHECK_FALSE(family_named("attention").check(settled("attention", {{"form", "four"}}, both)));
}

TEST_CASE("attention: scale and dtype settle by head width and backend", "[schema][attention]") {
    CHECK(settled("attention").real("scale") == 0.125);
    CHECK(settled("attention", {{"D", 128}}).real("scale") == 1 / std::sqrt(128.0));
    CHECK(settled("attention", {{"scale", 0.5}}).real("scale") == 0.5);
    CHECK(settled("attention").text("dtype") == "f32");
    CHECK(settled("attention", {}, {}, Backend::cuda).text("dtype") == "bf16");
    CHECK(settled("attention", {{"dtype", "f16"}}, {}, Backend::cuda).text("dtype") == "f16");
    CHECK(contains(sentence_of(family_named("attention").parameter("D")->check(258)), "2 to 256"));
    CHECK(contains(sentence_of(family_named("attention").parameter("window")->check(0)), "window"));
}

TEST_CASE("attention: tiles that do not fit a chip are refused there, with needed and available bytes",
          "[schema][attention]") {
    // (2 * 128 + 3 * 128 * 3) rows of 128 + 8 numbers of 2 bytes.
    const Settings large = {{"BLOCK_M", 128}, {"BLOCK_N", 128}, {"stages", 3}, {"D", 128}};
    const std::string refusal = variant_refusal("attention", "streaming", large, h200);
    CHECK(contains(refusal, "382976"));
    CHECK(contains(refusal, "232448"));
    CHECK(contains(refusal, "NVIDIA H200"));
    CHECK(variant_refusal("attention", "streaming", large, processor).empty());
    CHECK(variant_refusal("attention", "naive", large, h200).empty());
    CHECK(variant_refusal("attention", "streaming", {}, h200).empty());
    CHECK(variant_refusal("attention", "streaming", {}, rtx4090).empty());
    CHECK(variant_refusal("attention", "streaming", family_named("attention").presets.front().values, rtx4090)
              .empty());
    // Backward: 2 * 32 keys, and 4 stages of 2 * 128 rows with an lse and a delta for each query.
    Settings deep = {{"BLOCK_M", 128}, {"BLOCK_N", 32}, {"stages", 4}, {"D", 128}};
    CHECK(variant_refusal("attention", "streaming", deep, h200).empty());
    deep.push_back({"backward", true});
    CHECK(contains(variant_refusal("attention", "streaming", deep, h200), "backward needs 300032 bytes"));
}

TEST_CASE("attention: streaming_wgmma needs Hopper, whole groups of rows and registers for its sums",
          "[schema][attention]") {
    const auto refusal = [](const Settings& settings, const Chip& chip) {
        return variant_refusal("attention", "streaming_wgmma", settings, chip);
    };
    CHECK(contains(refusal({}, rtx4090), "sm_90a"));
    CHECK(refusal({}, h200).empty());
    CHECK(contains(refusal({{"warps", 8}}, h200), "BLOCK_M = 64: must be at least 128"));
    CHECK(refusal({{"BLOCK_M", 128}, {"BLOCK_N", 128}, {"warps", 8}, {"D", 128}}, h200).empty());
    // 2 bands of 128 columns, 64 scores and 32 probabilities per thread.
    CHECK(
        contains(refusal({{"BLOCK_M", 128}, {"BLOCK_N", 128}, {"warps", 4}, {"D", 128}, {"stages", 1}}, h200),
                 "needs 224 registers"));
}

TEST_CASE("attention: f32 leaves out the tensor-core variants, and wgmma needs Hopper and whole warp groups",
          "[schema][attention]") {
    CHECK(contains(variant_refusal("attention", "streaming", {{"dtype", "f32"}}, h200), "naive accepts f32"));
    CHECK(variant_refusal("attention", "streaming", {{"dtype", "f32"}}, processor).empty());
    CHECK(variant_refusal("attention", "streaming_wgmma", {}, h200).empty());
    CHECK(contains(variant_refusal("attention", "streaming_wgmma", {}, rtx4090), "sm_90a"));
    CHECK(contains(variant_refusal("attention", "streaming_wgmma", {{"warps", 8}}, h200), "BLOCK_M = 64"));
    CHECK(contains(variant_refusal("attention", "streaming_wgmma", {{"dtype", "f32"}}, h200), "dtype"));
}

TEST_CASE("attention: heads of keys and queries settle to as many as there are, and must fit",
          "[schema][attention]") {
    CHECK(settled("attention", {{"H", 6}}).integer("H_kv") == 6);
    CHECK(settled("attention", {{"N", 70}}).integer("N_q") == 70);
    const Settings shared = {{"H", 6}, {"H_kv", 2}, {"N", 70}, {"N_q", 3}, {"D", 10}, {"backward", true}};
    for (const char* name : {"q", "do", "o", "dq", "dq1", "dq2"})
        CHECK(shape_of("attention", name, shared) == Shape{1, 6, 3, 10});
    for (const char* name : {"k", "v", "dk", "dk1", "dk2", "dv"})
        CHECK(shape_of("attention", name, shared) == Shape{1, 2, 70, 10});
    for (const char* name : {"lse", "delta"}) CHECK(shape_of("attention", name, shared) == Shape{1, 6, 3});
    const auto refusal = [](const Settings& settings) { return family_refusal("attention", settings); };
    CHECK_FALSE(family_named("attention").check(settled("attention", shared)));
    CHECK(contains(refusal({{"H", 6}, {"H_kv", 4}}), "H_kv = 4: must divide H = 6"));
    CHECK(contains(refusal({{"H", 2}, {"H_kv", 4}}), "H_kv = 4: must divide H = 2"));
    CHECK(contains(refusal({{"N", 70}, {"N_q", 71}}), "N_q = 71: must be at most N = 70"));
    CHECK(contains(refusal({{"D", 15}}), "D = 15: must be even"));
}

TEST_CASE("attention: only the base of a rotation that runs has an effect", "[schema][attention]") {
    const Parameter& base = *family_named("attention").parameter("base");
    CHECK(base.why_unused(settled("attention"), Backend::cpu).empty());
    CHECK(base.why_unused(settled("attention", {{"form", "four"}}), Backend::cpu) == "only for form qkv");
}

TEST_CASE("attention: tensor cores keep their widths, and take shared keys and a cache",
          "[schema][attention]") {
    const Settings shared = {{"H", 8}, {"H_kv", 2}, {"N", 600}, {"N_q", 1}, {"backward", true}};
    for (const char* variant : {"streaming", "streaming_wgmma"}) {
        INFO(variant);
        CHECK(variant_refusal("attention", variant, shared, h200).empty());
        for (const int64_t d : {2, 48, 80, 256})
            CHECK(contains(variant_refusal("attention", variant, {{"D", d}}, h200),
                           "D = " + std::to_string(d) + ": must be 16, 32, 64 or 128"));
    }
    CHECK(variant_refusal("attention", "streaming", {{"D", int64_t{80}}}, processor).empty());
    CHECK(variant_refusal("attention", "naive", {{"D", int64_t{80}}}, h200).empty());
}

TEST_CASE("attention: presets decode one query with a cache, and share keys", "[schema][attention]") {
    const auto preset = [](const char* name) {
        const auto& presets = family_named("attention").presets;
        const auto found =
            std::find_if(presets.begin(), presets.end(), [&](const Preset& row) { return row.name == name; });
        REQUIRE(found != presets.end());
        const Parameters values = settled("attention", found->values);
        CHECK_FALSE(family_named("attention").check(values));
        return values;
    };
    const Parameters decode = preset("decode"), gqa = preset("gqa");
    CHECK(decode.integer("N_q") == 1);
    CHECK(decode.integer("N") == 8192);
    CHECK(gqa.integer("H") == 32);
    CHECK(gqa.integer("H_kv") == 8);
}

TEST_CASE("attention: more heads than a grid has are refused on the GPU only", "[schema][attention]") {
    const auto refusal = [](const char* variant, int64_t batch, const Chip& chip) {
        return variant_refusal("attention", variant, {{"Z", batch}, {"H", int64_t{256}}, {"N", int64_t{1}}},
                               chip);
    };
    for (const char* variant : {"naive", "streaming", "streaming_wgmma"}) {
        INFO(variant);
        CHECK(refusal(variant, 255, h200).empty());
        CHECK(contains(refusal(variant, 256, h200), "65536 heads"));
        CHECK(contains(refusal(variant, 256, h200), "at most 65535"));
    }
    for (const char* variant : {"naive", "streaming"}) CHECK(refusal(variant, 256, processor).empty());
}

// The schema of Block Two-Pass: facts from its documentation.

#include "kernels/btp/sizes.h"
#include "tests/kernels/families/schema_facts.h"

using namespace sawtooth;
using namespace sawtooth::schema_facts;

TEST_CASE("btp: every block has a carry, also a short last one", "[schema][btp]") {
    const Settings sizes = {{"B", 1}, {"H", 2}, {"L", 1000}, {"backward", true}};
    CHECK(shape_of("btp", "a", sizes) == Shape{1, 2, 1000});
    CHECK(shape_of("btp", "u", sizes) == Shape{1, 2, 16, 1000});
    CHECK(shape_of("btp", "carry", sizes) == Shape{1, 2, 63, 16});
    CHECK(shape_of("btp", "da", sizes) == Shape{1, 2, 1000});
}

TEST_CASE(
    "btp: automatic warps are 4 for order 2 on tensor cores, 8 for order 1 and long blocks of f32, "
    "otherwise 16",
    "[schema][btp]") {
    const Parameter& order = *family_named("btp").parameter("order");
    CHECK(settled("btp", {{"order", *order.parse("1")}}).integer("wpb") == 8);
    CHECK(settled("btp", {{"order", *order.parse("2")}}).integer("wpb") == 4);
    CHECK(settled("btp", {{"order", *order.parse("full")}}).integer("wpb") == 16);
    const Settings long_blocks = {{"BL", 64}, {"order", "full"}};
    CHECK(settled("btp", with(long_blocks, {{"dtype", "f32"}})).integer("wpb") == 8);
    CHECK(settled("btp", with(long_blocks, {{"dtype", "bf16"}})).integer("wpb") == 16);
    CHECK(settled("btp", {{"BL", 64}}).integer("wpb") == 4);
    CHECK(settled("btp", {{"BL", 24}}).integer("wpb") == 16);
    CHECK(settled("btp", {{"order", 1}, {"wpb", 4}}).integer("wpb") == 4);
}

TEST_CASE("btp: every variant runs any head width", "[schema][btp]") {
    for (const char* variant : {"sequential", "two_pass", "fused", "decode"})
        for (const Chip& chip : {processor, h200})
            CHECK(variant_refusal("btp", variant, {{"DH", 8}}, chip).empty());
}

TEST_CASE("btp: a construction is found by its name, wherever it stands among the choices", "[schema][btp]") {
    using enum btp::Construction;
    const auto named = [](const char* name) {
        return btp::construction_of(settled("btp", {{"construction", name}}));
    };
    CHECK(named("log_stable") == log_stable);
    CHECK(named("log_difference") == log_difference);
    CHECK(named("masked_cumprod") == masked_cumprod);
    CHECK(named("cumprod_ratio") == cumprod_ratio);
    CHECK(named("double") == exact);
    CHECK(family_named("btp").parameter("construction")->choices.size() == 5);
}

// The schema of the memory rules: facts from their documentation.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/kernels/families/schema_facts.h"

using namespace sawtooth;
using namespace sawtooth::schema_facts;

TEST_CASE("memory: every rule has its own inputs and states", "[schema][memory]") {
    const auto used = [](const char* rule) {
        std::vector<std::string> names;
        const Parameters parameters = settled("memory", {{"rule", rule}});
        for (const ArraySpec& array : family_named("memory").arrays)
            if (array.is_used(parameters)) names.push_back(array.name);
        return names;
    };
    using Names = std::vector<std::string>;
    CHECK(used("titans") ==
          Names{"k", "v", "q", "alpha", "eta", "theta", "m0", "s0", "y", "m", "s", "boundaries"});
    CHECK(used("delta") == Names{"k", "v", "q", "alpha", "theta", "m0", "y", "m", "boundaries"});
    CHECK(used("hebbian") == Names{"k", "v", "q", "alpha", "m0", "y", "m", "boundaries"});
    CHECK(used("atlas") ==
          Names{"k", "v", "q", "alpha", "eta", "theta", "w_omega", "m0", "s0", "y", "m", "s", "boundaries"});
    CHECK(used("atlas_omega") == Names{"k", "v", "q", "alpha", "eta", "theta", "omega_windows", "m0", "s0",
                                       "y", "m", "s", "boundaries"});
    CHECK(used("lattice") == Names{"k", "v", "q", "slots", "y", "m", "boundaries"});
    CHECK(used("trellis") == Names{"k", "v", "q", "alpha", "theta", "x", "sk0", "sv0", "y", "sk", "sv"});
}

TEST_CASE("memory: states and boundaries have the documented shapes", "[schema][memory]") {
    const Settings titans = {{"batch", 2}, {"length", 50}, {"d", 16}, {"rule", "titans"}, {"chunk", 16}};
    CHECK(shape_of("memory", "m", titans) == Shape{2, 16, 16});
    CHECK(shape_of("memory", "boundaries", titans) == Shape{2, 5, 16, 16});
    const Settings lattice = {{"batch", 2},  {"length", 50},    {"d", 16},
                              {"chunk", 16}, {"slot_count", 6}, {"rule", "lattice"}};
    CHECK(shape_of("memory", "slots", lattice) == Shape{2, 6, 16});
    CHECK(shape_of("memory", "m", lattice) == Shape{2, 6, 16});
    CHECK(shape_of("memory", "boundaries", lattice) == Shape{2, 5, 6, 16});
    CHECK(shape_of("memory", "w_omega", {{"d", 16}, {"rule", "atlas"}}) == Shape{16, 32});
    CHECK(shape_of("memory", "boundaries", {{"length", 50}, {"d", 32}, {"chunk", 4096}}) ==
          Shape{1, 2, 32, 32});
    const Value levels = *family_named("memory").parameter("levels")->parse("1,8,64,512");
    CHECK(shape_of("memory", "pulse", {{"length", 130}, {"levels", levels}}) == Shape{4, 130});
    CHECK(shape_of("memory", "level_y", {{"length", 130}, {"d", 8}, {"levels", levels}}) ==
          Shape{1, 4, 130, 8});
    CHECK_FALSE(uses("memory", "pulse", {}));
}

TEST_CASE("memory: strategies support the documented rules and name the rules they need",
          "[schema][memory]") {
    const std::set<std::string> all = {"titans",      "delta",   "hebbian", "atlas",
                                       "atlas_omega", "lattice", "trellis"};
    const std::set<std::string> matrices = {"titans", "delta", "hebbian", "atlas", "atlas_omega"};
    const std::map<std::string, std::set<std::string>> table = {
        {"sequential", all},
        {"sequential_persistent", all},
        {"chunkwise_gd", all},
        {"associative_scan", matrices},
        {"tnt", all},
        {"lattice_gla", {"lattice", "trellis"}},
        {"atlas_parallel", {"atlas", "atlas_omega"}},
        {"exact_chunk", {"delta"}},
    };
    CHECK(family_named("memory").variants.size() == table.size());
    for (const auto& [strategy, rules] : table) {
        for (const std::string& rule : all) {
            INFO(strategy << " with " << rule);
            const std::string refusal = variant_refusal("memory", strategy, {{"rule", rule}}, processor);
            CHECK(refusal.empty() == (rules.count(rule) == 1));
            if (!refusal.empty()) CHECK(contains(refusal, "needs rule "));
        }
    }
    CHECK(variant_refusal("memory", "lattice_gla", {{"rule", "titans"}}, processor) ==
          "needs rule lattice or trellis");
}

TEST_CASE("memory: given windows decide omega_window, and windows without tokens are refused",
          "[schema][memory]") {
    const auto windows = [](const std::vector<int32_t>& sizes) {
        return Arrays{numbers("omega_windows", sizes, {2, 3})};
    };
    const Settings settings = {{"rule", "atlas_omega"}, {"batch", 2}, {"length", 3}, {"omega_window", 4}};
    const auto longest = [&](const Arrays& given) {
        return settled("memory", settings, given).integer("omega_window");
    };
    CHECK(longest({}) == 4);
    CHECK(longest(windows({1, 2, 1, 3, 1, 1})) == 3);
    CHECK(longest(windows({1, 2, 1, 300, 1, 1})) == 300);
    CHECK(settled("memory", {{"rule", "delta"}}, windows({1, 2, 1, 3, 1, 1})).integer("omega_window") == 8);
    const Arrays right = windows({1, 2, 1, 300, 1, 1});
    CHECK_FALSE(family_named("memory").check_inputs(settled("memory", settings, right), right));
    CHECK(input_refusal("memory", settings, windows({1, 2, 3, 4, 0, 1})) ==
          "omega_windows[1, 1] = 0: must be 1 to 16777216 tokens");
    CHECK(contains(input_refusal("memory", settings, windows({1, 2, 1 << 25, 4, 1, 1})),
                   "omega_windows[0, 2] = 33554432"));
    CHECK(contains(input_refusal("memory", settings, windows({-1, -1, -1, -1, -1, -1})),
                   "omega_windows[0, 0] = -1"));
}

TEST_CASE("memory: local memories of tnt fit in their shard; sizes above the length act like the length",
          "[schema][memory]") {
    CHECK(contains(variant_refusal("memory", "tnt", {{"C_G", 16}, {"C_L", 32}}, processor), "C_L = 32"));
    CHECK(variant_refusal("memory", "tnt", {{"C_G", 16}, {"C_L", 16}}, processor).empty());
    CHECK(variant_refusal("memory", "tnt", {{"length", 16}, {"C_G", 16}, {"C_L", 32}}, processor).empty());
}

TEST_CASE("memory: trellis compresses to at most d slots; other rules do not check", "[schema][memory]") {
    CHECK(contains(family_refusal("memory", {{"rule", "trellis"}, {"d", 8}}), "compress = 16"));
    CHECK_FALSE(family_named("memory").check(settled("memory", {{"d", 8}})));
    CHECK(contains(sentence_of(family_named("memory").parameter("chunk")->check(0)), "chunk"));
}

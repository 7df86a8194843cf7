// Properties of every row in the schemas of all families.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "app/engine/run/configure.h"
#include "kernels/cuda/chips.h"
#include "tests/kernels/families/schema_facts.h"

using namespace sawtooth;
using namespace sawtooth::schema_facts;

namespace {

template <class Rows>
void check_names(const Rows& rows) {
    std::set<std::string> names;
    for (const auto& row : rows) {
        INFO(row.name);
        CHECK_FALSE(row.name.empty());
        CHECK(row.name.find_first_of(" /.,=") == std::string::npos);
        CHECK(names.insert(row.name).second);
    }
}

TEST_CASE("at defaults and presets only strategies of other rules and small states refuse",
          "[family][schema]") {
    std::set<std::string> refused;
    for (const Family* family : offered_families())
        for (const Chip& chip : {processor, h200}) {
            std::vector<Preset> presets = family->presets;
            presets.insert(presets.begin(), {"defaults", {}});
            for (const Preset& preset : presets) {
                const Parameters parameters = settled(*family, preset.values, {}, chip.backend);
                for (const Variant& variant : family->variants)
                    if (variant.runs_on(chip.backend) && variant.refusal(parameters, chip))
                        refused.insert(fmt::format("{} {} {} {}", family->name, preset.name,
                                                   name_of(chip.backend), variant.name));
            }
        }
    std::set<std::string> wanted;
    for (const Backend backend : {Backend::cpu, Backend::cuda})
        for (const char* const words :
             {"memory defaults {} lattice_gla", "memory defaults {} atlas_parallel",
              "memory paper {} lattice_gla", "memory paper {} atlas_parallel", "memory paper {} exact_chunk"})
            wanted.insert(fmt::format(fmt::runtime(words), name_of(backend)));
    CHECK(refused == wanted);
}

TEST_CASE("the variants of every bench case accept its settings", "[family][bench]") {
    for (const Family* family : offered_families())
        for (const Backend backend : {Backend::cpu, Backend::cuda})
            for (const BenchCase& bench : family->bench_cases(backend)) {
                INFO(family->name << " on " << name_of(backend) << ": " << bench.name);
                for (const auto& [name, value] : bench.values)
                    CHECK_FALSE(family->parameter(name)->check(value));
                const Parameters parameters = settled(*family, bench.values, {}, backend);
                CHECK_FALSE((family->check && family->check(parameters)));
                const Chip chip = backend == Backend::cpu ? processor : *cuda::chip_of("sm_90a");
                int64_t able = 0;
                for (const Variant& variant : family->variants) {
                    const bool is_named = std::ranges::count(bench.variants, variant.name) > 0;
                    if (!variant.runs_on(backend) || (!is_named && !bench.variants.empty())) continue;
                    const std::string refusal = variant.refusal(parameters, chip).value_or("");
                    INFO(variant.name << ": " << refusal);
                    if (is_named) CHECK(refusal.empty());
                    able += refusal.empty();
                }
                CHECK(able > 0);
            }
}

}  // namespace

TEST_CASE("the families are listed in their order and found by name", "[schema]") {
    std::vector<std::string> names;
    for (const Family* family : all_families()) names.push_back(family->name);
    // The families of kernels/ come first, then the example that this program adds.
    CHECK(names == std::vector<std::string>{"memory", "scan", "ar_ssm", "attention", "btp", "lut",
                                            "lut_sequence", "scale"});
    CHECK(find_family("btp")->name == "btp");
    CHECK(find_family("bt") == nullptr);
}

TEST_CASE("names of a family's parameters, arrays, variants and presets are unique", "[schema]") {
    for (const Family* family : all_families()) {
        INFO(family->name);
        check_names(family->parameters);
        check_names(family->arrays);
        check_names(family->variants);
        check_names(family->presets);
    }
}

TEST_CASE("a parameter with a short name has a title, unique among names and titles of its family",
          "[schema]") {
    constexpr size_t most_letters = 3;  // such names are letters or abbreviations
    for (const Family* family : all_families()) {
        std::set<std::string> words;
        for (const Parameter& row : family->parameters) words.insert(row.name);
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name);
            if (row.name.size() <= most_letters) CHECK_FALSE(row.title.empty());
            if (row.title.empty()) continue;
            CHECK(row.title.find_first_of(" /.,=") == std::string::npos);  // typed like a name
            CHECK(words.insert(row.title).second);
        }
    }
}

TEST_CASE("axes of the same kind have the same title in all families", "[schema]") {
    const auto titles = [](const char* family, const std::vector<std::string>& names) {
        std::vector<std::string> all;
        for (const std::string& name : names) all.push_back(find_family(family)->parameter(name)->title);
        return all;
    };
    const std::vector<std::string> axes = {"sequences", "positions", "channels"};
    CHECK(titles("memory", {"batch", "length", "d"}) == axes);
    CHECK(titles("ar_ssm", {"batch", "length", "d_model"}) == axes);
    CHECK(titles("attention", {"Z", "N", "D"}) == axes);
    CHECK(titles("btp", {"B", "L", "DH"}) == axes);
    CHECK(titles("scan", {"batch", "length"}) == std::vector<std::string>{"sequences", "positions"});
    CHECK(titles("lut_sequence", {"batch", "sequence_length"}) ==
          std::vector<std::string>{"sequences", "positions"});
    CHECK(titles("attention", {"H"}) == titles("btp", {"H"}));
}

TEST_CASE("every meaning and idea is a sentence that ends with a full stop", "[schema]") {
    for (const Family* family : all_families()) {
        INFO(family->name);
        CHECK(is_sentence(family->summary));
        CHECK_FALSE(family->title.empty());
        CHECK_FALSE(family->source.empty());
        for (const Parameter& row : family->parameters) {
            INFO(row.name);
            CHECK(is_sentence(row.meaning));
        }
        for (const ArraySpec& row : family->arrays) {
            INFO(row.name);
            CHECK(is_sentence(row.meaning));
        }
        for (const Variant& row : family->variants) {
            INFO(row.name);
            CHECK(is_sentence(row.idea));
        }
    }
}

TEST_CASE("every default is accepted by its own row, also as text and settled on either backend",
          "[schema]") {
    for (const Family* family : all_families()) {
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name);
            CHECK_FALSE(row.check(row.initial));
            const auto parsed = row.parse(to_text(row.initial));
            REQUIRE(parsed);
            CHECK_FALSE(row.check(*parsed));
            CHECK(to_text(*parsed) == to_text(row.initial));
            CHECK(row.minimum <= row.maximum);
        }
        for (const Backend backend : {Backend::cpu, Backend::cuda}) {
            const Parameters parameters = settled(*family, {}, {}, backend);
            INFO(family->name << " on " << name_of(backend));
            for (const Parameter& row : family->parameters) CHECK_FALSE(row.check(parameters.at(row.name)));
            if (family->check) CHECK_FALSE(family->check(parameters));
        }
    }
}

TEST_CASE("every choice contains its default, and all choices differ", "[schema]") {
    for (const Family* family : all_families()) {
        for (const Parameter& row : family->parameters) {
            if (row.type != Type::choice) continue;
            INFO(family->name << " " << row.name);
            std::set<std::string> texts;
            for (const Value& choice : row.choices) CHECK(texts.insert(to_text(choice)).second);
            CHECK(texts.size() > 1);
            CHECK(texts.count(to_text(row.initial)) == 1);
        }
    }
}

TEST_CASE("the preset paper of every family names parameters and values that are accepted", "[schema]") {
    for (const Family* family : all_families()) {
        INFO(family->name);
        REQUIRE_FALSE(family->presets.empty());
        CHECK(family->presets.front().name == "paper");
        for (const Preset& preset : family->presets) {
            for (const auto& [name, value] : preset.values) {
                INFO(preset.name << " " << name);
                REQUIRE(family->parameter(name));
                CHECK_FALSE(family->parameter(name)->check(value));
            }
            if (family->check) CHECK_FALSE(family->check(settled(*family, preset.values)));
        }
    }
}

TEST_CASE("variants name outputs of the family, and every output has a variant", "[schema]") {
    for (const Family* family : all_families()) {
        std::set<std::string> given;
        for (const Variant& variant : family->variants) {
            INFO(family->name << " " << variant.name);
            CHECK((variant.plan_cpu || variant.plan_cuda));
            for (const std::string& name : variant.outputs) {
                INFO(name);
                REQUIRE(family->array(name));
                CHECK(family->array(name)->role == Role::output);
                given.insert(name);
            }
        }
        for (const ArraySpec& array : family->arrays) {
            INFO(family->name << " " << array.name);
            if (array.role == Role::output) CHECK(given.count(array.name) == 1);
        }
    }
}

TEST_CASE("a dimension that names a parameter has its size", "[schema]") {
    for (const Family* family : all_families()) {
        for (const bool backward : {false, true}) {
            Settings settings;
            if (backward && family->parameter("backward")) settings.push_back({"backward", true});
            const Parameters parameters = settled(*family, settings);
            for (const ArraySpec& array : family->arrays) {
                if (!array.is_used(parameters)) continue;
                INFO(family->name << " " << array.name);
                const Shape shape = array.shape_for(parameters, {});
                REQUIRE(shape.size() == array.dimensions.size());
                for (size_t axis = 0; axis < shape.size(); ++axis) {
                    if (!family->parameter(array.dimensions[axis])) continue;
                    CHECK(shape[axis] == parameters.integer(array.dimensions[axis]));
                }
            }
        }
    }
}

TEST_CASE("gradients are used only if the backward pass runs", "[schema]") {
    for (const Family* family : all_families()) {
        if (!family->parameter("backward")) continue;
        std::string gradient;  // the first one: others may be those of outputs that are not always there
        for (const ArraySpec& array : family->arrays)
            if (array.role == Role::output_gradient && gradient.empty()) gradient = array.name;
        INFO(family->name << " " << gradient);
        REQUIRE(family->array(gradient));
        CHECK_FALSE(settled(*family).flag("backward"));
        CHECK(settled(*family, {}, {floats(gradient, {1})}).flag("backward"));
        CHECK_FALSE(settled(*family, {{"backward", false}}, {floats(gradient, {1})}).flag("backward"));
        CHECK_FALSE(family->array(gradient)->is_used(settled(*family)));
        CHECK(family->array(gradient)->is_used(settled(*family, {{"backward", true}})));
    }
}

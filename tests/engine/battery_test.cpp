// The settings that `check` draws: what a battery of a family covers, and what one setting may cost.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "app/engine/check/draw.h"
#include "app/engine/check/report.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/planned_kernels.h"
#include "app/engine/run/values.h"
#include "tests/engine/draw_battery.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"

namespace sawtooth {
namespace {

TEST_CASE("a battery is the same every time, and another one for another seed", "[check]") {
    for (const Family* family : families()) {
        INFO(family->name);
        const auto& first = whole_battery(*family);
        REQUIRE(first.size() >= 60);
        CHECK(draw_battery(*family, processor, 60) == std::vector(first.begin(), first.begin() + 60));
        Request other = base_of(*family, processor);
        other.seed = 2;
        CHECK(Battery(*family, other, processor).next() != first.front());
    }
}

TEST_CASE("a battery tries every variant with every choice that it accepts", "[check]") {
    for (const Family* family : families()) {
        std::map<std::string, std::set<std::string>> tried;  // settings that were tried, by variant
        for (const Request& request : whole_battery(*family)) {
            const Parameters values = settled_values(*family, request.parameters, Backend::cpu);
            std::set<std::string>& of_variant = tried[request.variants.front()];
            for (const Parameter& row : family->parameters)
                if (row.why_unused(values, Backend::cpu).empty())
                    of_variant.insert(row.name + "=" + to_text(values.at(row.name)));
            of_variant.insert(name_of(request.values));
        }
        for (const Variant& variant : family->variants) {
            if (!variant.runs_on(Backend::cpu)) continue;
            const auto& seen = tried[variant.name];
            INFO(family->name << " " << variant.name);
            for (const auto& [name, values] : value_names) CHECK(seen.contains(name));
            for (const Parameter& row : family->parameters) {
                if (row.type != Type::choice || row.renews == Renews::figures) continue;
                for (const Value& choice : row.choices) {
                    const Parameters set = settled(*family, {{row.name, choice}});
                    const bool accepted = row.why_unused(set, Backend::cpu).empty() &&
                                          !(family->check && family->check(set)) &&
                                          !variant.refusal(set, processor) && set.at(row.name) == choice;
                    INFO(row.name << " " << to_text(choice));
                    CHECK((!accepted || seen.contains(row.name + "=" + to_text(choice))));
                }
            }
        }
    }
}

// The places of lengths in tiles of every size that variants have: whole tiles, one more, one less.
std::map<std::string, std::set<std::string>> places_in_tiles(const Family& family, const Chip& chip) {
    std::map<std::string, std::set<std::string>> places;
    for (const Request& request : whole_battery(family, chip)) {
        const Variant& variant = *family.variant(request.variants.front());
        const Parameters values = settled_values(family, request.parameters, chip.backend);
        for (const std::string& output : variant.outputs)
            for (const Tiling& tiling : family.tilings(variant, output, values, chip.backend)) {
                const int64_t length = values.integer(tiling.dimension), rest = length % tiling.size;
                auto& seen = places[tiling.name];
                if (length < 2 * tiling.size || tiling.size < 3) continue;
                if (rest == 0) seen.insert("whole");
                if (rest == 1) seen.insert("one more");
                if (rest == tiling.size - 1) seen.insert("one less");
            }
    }
    return places;
}

// All tiles except the larger ones of a few variants, which need long lengths.
bool is_common(const std::string& tiling) {
    return tiling != "totals" && tiling != "group" && tiling != "stretch" && tiling != "C_L";
}

TEST_CASE("a battery has lengths at the borders of tiles, over several tiles", "[check]") {
    for (const Chip& chip : {processor, schema_facts::h200})
        for (const Family* family : families()) {
            if (!family->tilings) continue;
            for (const auto& [name, places] : places_in_tiles(*family, chip)) {
                INFO(family->name << " " << name << " on " << name_of(chip.backend));
                CHECK(places.size() >= (is_common(name) ? 3 : 1));
            }
        }
}

// The kernels of a file whose entry is the macro STEP, which are the enumerators of Step.
std::vector<std::string> steps_of(const std::string& code) {
    std::smatch list;
    const std::regex steps("enum class Step \\{([^}]*)\\}"), name("\\w+");
    if (!std::regex_search(code, list, steps)) return {};
    const std::string names = list.str(1);
    return {std::sregex_token_iterator(names.begin(), names.end(), name), {}};
}

// The kernels in all .cu files of families: "kernels/scan/cuda/blelloch.cu up_sweep".
std::set<std::string> written_kernels() {
    const std::filesystem::path root = SAWTOOTH_SOURCE_DIR;
    const std::regex entry(R"(__global__\s+void\s+(?:__\w+__\([^)]*\)\s+)*(\w+)\()");
    std::set<std::string> written;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / "kernels")) {
        if (file.path().extension() != ".cu" || file.path().parent_path() == root / "kernels/cuda") continue;
        std::ostringstream text;
        text << std::ifstream(file.path()).rdbuf();
        const std::string code = text.str();
        const std::string name = std::filesystem::relative(file.path(), root).string();
        for (const std::string& step : steps_of(code)) written.insert(name + " " + step);
        for (std::sregex_iterator match(code.begin(), code.end(), entry), end; match != end; ++match)
            if (match->str(1) != "STEP") written.insert(name + " " + match->str(1));
    }
    return written;
}

// The "FILE ENTRY" part of "FILE ENTRY DEFINE=VALUE …".
std::string kernel_of(const std::string& source) {
    return source.substr(0, source.find(' ', source.find(' ') + 1));
}

TEST_CASE("a battery runs every kernel on a GPU, with and without jitter", "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    std::set<std::string> run[2];  // the kernels that ran without jitter, and with it
    for (const Family* family : families())
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            const Variant& variant = *family->variant(request.variants.front());
            for (const std::string& source : planned.of(*family, variant, request))
                run[request.jitter != 0].insert(kernel_of(source));
        }
    const auto written = written_kernels();
    CHECK(written.size() > 50);
    for (const std::string& kernel : written)
        for (const int jitter : {0, 1}) {
            INFO(kernel << (jitter ? " with jitter" : ""));
            CHECK(run[jitter].contains(kernel));
        }
}

TEST_CASE("a battery has settings with jitter that have several tiles in two dimensions", "[check]") {
    for (const Family* family : families()) {
        if (!family->tilings) continue;
        std::map<std::string, int> met;  // by variant and pair of tiles
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            if (request.jitter == 0) continue;
            const Variant& variant = *family->variant(request.variants.front());
            const Parameters values = settled_values(*family, request.parameters, Backend::cuda);
            const auto tilings = tilings_of(*family, variant, values, Backend::cuda);
            const auto has_several = [&](const Tiling& tiling) {
                return values.integer(tiling.dimension) > tiling.size;
            };
            for (const Tiling& one : tilings)
                for (const Tiling& other : tilings)
                    if (one.name < other.name)
                        met[variant.name + ": " + one.name + " of " + one.dimension + ", " + other.name +
                            " of " + other.dimension] += has_several(one) && has_several(other);
        }
        for (const auto& [pair, settings] : met) {
            INFO(family->name << " " << pair << ": " << settings);
            CHECK(settings >= 1);
        }
    }
}

// Adds every kernel of a setting with every choice that it is planned for.
void add_choices(const PlannedKernels& planned, const Family& family, const Request& request,
                 std::set<std::string>& choices) {
    const Variant& variant = *family.variant(request.variants.front());
    const Parameters values = settled_values(family, request.parameters, Backend::cuda);
    for (const std::string& source : planned.of(family, variant, request))
        for (const Parameter& row : family.parameters)
            if (row.type == Type::choice && row.renews != Renews::figures &&
                row.why_unused(values, Backend::cuda).empty())
                choices.insert(variant.name + " " + kernel_of(source) + " " + row.name + "=" +
                               to_text(values.at(row.name)));
}

TEST_CASE("a battery runs most kernels with every choice that they take", "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    Random random(1, "choices of kernels");
    for (const Family* family : families()) {
        std::set<std::string> met, possible;
        for (const Request& request : whole_battery(*family, schema_facts::h200))
            add_choices(planned, *family, request, met);
        Request request = base_of(*family, schema_facts::h200);
        for (const Variant& variant : family->variants)
            for (int i = 0; i < 100 && variant.runs_on(Backend::cuda); ++i) {
                const auto set =
                    draw_setting(random, *family, variant, schema_facts::h200, {.operations = 2e7});
                REQUIRE(set);
                request.variants = {variant.name};
                request.parameters = *set;
                add_choices(planned, *family, request, possible);
            }
        std::vector<std::string> missed;
        std::ranges::set_difference(possible, met, std::back_inserter(missed));
        INFO(family->name << ": " << missed.size() << " of " << possible.size() << " are missed");
        CHECK(missed.size() * 100 <= possible.size() * 7);
    }
}

// The inputs that the single infinity of a setting can be in, for any seed.
std::set<std::string> possible_inputs_with_infinity(const Configuration& configuration, Request request) {
    std::set<std::string> names;
    for (request.seed = 1; request.seed <= 60; ++request.seed)
        names.insert(input_with_strange_number(configuration, request));
    return names;
}

TEST_CASE("a battery gives most kernels an infinity in every input", "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    for (const Family* family : families()) {
        std::set<std::pair<std::string, std::string>> met, possible;  // kernel and input
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            if (request.values != Values::infinity) continue;
            const auto configuration = configure(request, {}, Backend::cuda);
            REQUIRE(configuration);
            const auto inputs = possible_inputs_with_infinity(*configuration, request);
            for (const std::string& source :
                 planned.of(*family, *family->variant(request.variants.front()), request)) {
                met.emplace(kernel_of(source), input_with_strange_number(*configuration, request));
                for (const std::string& input : inputs) possible.emplace(kernel_of(source), input);
            }
        }
        INFO(family->name << ": " << met.size() << " of " << possible.size());
        CHECK(met.size() * 3 >= possible.size() * 2);
    }
}

// Kernels that few settings have, too. ar_ssm runs more kernels of scan than it has settings with an
// infinity.
TEST_CASE("a battery gives every kernel of a family an infinity", "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    for (const Family* family : families()) {
        std::set<std::string> all, with_infinity;
        for (const Request& request : whole_battery(*family, schema_facts::h200))
            for (const std::string& source :
                 planned.of(*family, *family->variant(request.variants.front()), request)) {
                const std::string kernel = kernel_of(source);
                if (family->name == "ar_ssm" && kernel.starts_with("kernels/scan/")) continue;
                all.insert(kernel);
                if (request.values == Values::infinity) with_infinity.insert(kernel);
            }
        INFO(family->name);
        CHECK(with_infinity == all);
    }
}

TEST_CASE("a battery plans settings for few multiprocessors where that changes a kernel or a grid",
          "[check]") {
    const PlannedKernels planned(schema_facts::h200);
    std::map<std::string, int> on_few;
    for (const Family* family : families())
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            if (request.multiprocessors == 0) continue;
            ++on_few[family->name];
            INFO(setting_words(request));
            CHECK(planned.depends_on_multiprocessors(*family, *family->variant(request.variants.front()),
                                                     request));
        }
    for (const char* name : {"ar_ssm", "btp", "lut", "memory", "scan"}) {
        INFO(name);
        CHECK(on_few[name] >= 3);
    }
}

TEST_CASE("a GPU can take every setting of a battery", "[check]") {
    const auto device = cuda::Device::theory(schema_facts::h200.architecture, {});
    REQUIRE(device);
    for (const Family* family : families())
        for (const Request& request : whole_battery(*family, schema_facts::h200)) {
            const auto configuration = configure(request, {}, Backend::cuda);
            REQUIRE(configuration);
            const Variant& variant = *family->variant(request.variants.front());
            const Arrays inputs = input_shapes(*family, configuration->parameters, request.optional);
            const auto plan = make_plan({.family = *family,
                                         .variant = variant,
                                         .parameters = configuration->parameters,
                                         .inputs = inputs,
                                         .dry = true,
                                         .device = device->get(),
                                         .multiprocessors = request.multiprocessors,
                                         .stores_extras = true});
            INFO(setting_words(request));
            CHECK((plan ? "" : plan.error().text) == "");
        }
}

TEST_CASE("drawn settings are accepted and cost little", "[check]") {
    Random random(1, "drawn settings");
    for (const Family* family : families())
        for (const Variant& variant : family->variants) {
            if (!variant.runs_on(Backend::cpu)) continue;
            const auto set = draw_setting(random, *family, variant, processor, {.operations = 1e5});
            REQUIRE(set);
            const Parameters values = settled_values(*family, *set, Backend::cpu);
            CHECK_FALSE((family->check && family->check(values)));
            CHECK_FALSE(variant.refusal(values, processor));
            CHECK(family->work(values, {}).operations <= 1e5);
        }
}

TEST_CASE("no setting is drawn whose hash table is so crowded that a launch seems never to end", "[check]") {
    const Family& family = **find_offered_family("lut_sequence");
    Parameters crowded;
    const std::vector<std::pair<std::string, Value>> values = {
        {"backward", true},         {"hash", "sum"},
        {"connectivity", "sparse"}, {"detectors", int64_t{1023}},
        {"inputs", int64_t{2}},     {"anchors_per_detector", int64_t{2}},
        {"outputs", int64_t{14}},   {"synapses_per_neuron", int64_t{2}},
        {"batch", int64_t{1}}};
    for (const auto& [name, value] : values) crowded.set(name, value);
    const auto is_drawn = [&](int64_t length) {
        Random random(1, "crowded");
        Parameters kept = crowded;
        kept.set("sequence_length", length);
        return draw_setting(random, family, *family.variant("unfused"), processor, {.operations = 2e7}, kept)
            .has_value();
    };
    CHECK(is_drawn(5));
    CHECK_FALSE(is_drawn(47));  // minutes on two cores, where its work takes a millisecond
}

}  // namespace
}  // namespace sawtooth

// Parameters declare when they are used: an unused one changes no bit and recomputes nothing.

#include <filesystem>
#include <map>

#include "app/engine/run/configure.h"
#include "app/engine/run/runner.h"
#include "app/engine/run/sweep_axes.h"
#include "kernels/families.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

Request request_with(const Family& family, const Settings& settings) {
    Request request;
    request.family = family.name;
    request.repeats = 1;
    request.threads = 1;
    for (const auto& [name, value] : settings) request.parameters.set(name, value);
    return request;
}

std::string why_unused(const char* family, const char* parameter, const Settings& settings = {},
                       Backend backend = Backend::cpu) {
    const Family& schema = schema_facts::family_named(family);
    return schema.parameter(parameter)->why_unused(settled(schema, settings, {}, backend), backend);
}

double last(const char* family, const char* parameter, const Settings& settings = {}) {
    const Family& schema = schema_facts::family_named(family);
    return schema.parameter(parameter)->last(settled(schema, settings));
}

// Returns everything that a CPU run computes from the seed, including inputs and references.
Arrays computed(const Configuration& configuration) {
    static cpu::Pool pool(1);
    const Family& family = *configuration.family;
    Arrays all = *make_inputs(configuration, {}, {});
    const Arrays inputs = all;
    const auto add = [&](const Outcome<Arrays>& arrays) {
        REQUIRE(arrays);
        all.insert(all.end(), arrays->begin(), arrays->end());
    };
    add(family.reference(configuration.parameters, inputs, {}));
    if (family.kernel_reference) add(family.kernel_reference(configuration.parameters, inputs, true, {}));
    for (const Variant* variant : configuration.variants) {
        if (variant->refusal(configuration.parameters, Chip{})) continue;
        const Ran ran = run(family, variant->name, configuration.parameters, inputs, pool);
        all.insert(all.end(), ran.outputs.begin(), ran.outputs.end());
    }
    return all;
}

// Returns values that a user may set: both ends, two in between and every choice.
std::vector<Value> some_values(const Parameter& row) {
    if (row.type == Type::boolean) return {false, true};
    if (row.type == Type::choice) return row.choices;
    if (row.type == Type::real) return {row.minimum, (row.minimum + row.maximum) / 4, row.maximum};
    if (row.type == Type::list) return {std::vector<int64_t>{1, 4}};
    return {static_cast<int64_t>(row.minimum), int64_t{3}, int64_t{12}, static_cast<int64_t>(row.maximum)};
}

// Checks that other values of unused parameters, and values beyond a limit, leave every bit unchanged.
// Returns the number of comparisons.
int check_without_effect(const Family& family, const Settings& settings) {
    const auto configuration = configure(request_with(family, settings), {});
    REQUIRE(configuration);
    const Parameters& base = configuration->parameters;
    const Parameters acting = family.acting(base, Backend::cpu);
    const Arrays wanted = computed(*configuration);
    int compared = 0;
    for (const Parameter& row : family.parameters) {
        if (row.renews == Renews::figures) continue;
        const bool unused = !row.why_unused(base, Backend::cpu).empty();
        if (!unused && !row.end) continue;
        for (const Value& value : some_values(row)) {
            Settings other = settings;
            other.emplace_back(row.name, value);
            // A refused setting runs nothing.
            const auto changed = configure(request_with(family, other), {});
            if (!changed || family.acting(changed->parameters, Backend::cpu) != acting) continue;
            INFO(family.name << " " << row.name << " = " << to_text(value));
            const Arrays got = computed(*changed);
            CHECK(same_bits(got, wanted));
            ++compared;
        }
        if (unused && !row.end) CHECK(acting.at(row.name) == row.initial);
    }
    return compared;
}

}  // namespace

TEST_CASE("conditions and limits are short phrases", "[schema]") {
    for (const Family* family : all_families())
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name);
            for (const Condition& condition : row.applies) {
                INFO(condition.words);
                CHECK((condition.words.starts_with("only ") || condition.words.starts_with("not ")));
                CHECK(condition.words.size() <= 48);
                CHECK(condition.words.back() != '.');
            }
            if (!row.end) continue;
            CHECK(row.type == Type::integer);
            CHECK_FALSE(row.end->words.empty());
            CHECK(row.end->words.size() <= 24);
            CHECK(row.end->words.back() != '.');
        }
}

TEST_CASE("every condition can hold and every limit lies in the range of its parameter", "[schema]") {
    for (const Family* family : all_families())
        for (const Parameter& row : family->parameters) {
            INFO(family->name << " " << row.name);
            bool used = false;
            const auto look = [&](const Settings& settings) {
                for (const Backend backend : {Backend::cpu, Backend::cuda}) {
                    const Parameters parameters = settled(*family, settings, {}, backend);
                    used = used || row.why_unused(parameters, backend).empty();
                    CHECK(row.last(parameters) >= row.minimum);
                    CHECK(row.last(parameters) <= row.maximum);
                }
            };
            look({});
            for (const Parameter& other : family->parameters) {
                const bool is_flag = other.type == Type::boolean;
                for (const Value& choice : is_flag ? std::vector<Value>{false, true} : other.choices) {
                    look({{other.name, choice}});
                    if (family->parameter("backward")) look({{other.name, choice}, {"backward", true}});
                }
            }
            CHECK(used);
        }
}

TEST_CASE("effective parameters are accepted and are their own effective values", "[schema]") {
    for (const Family* family : all_families())
        for (const Backend backend : {Backend::cpu, Backend::cuda})
            for (const bool largest : {false, true}) {
                INFO(family->name << " on " << name_of(backend));
                Settings settings;
                if (largest)
                    for (const Parameter& row : family->parameters)
                        if (row.end) settings.emplace_back(row.name, static_cast<int64_t>(row.maximum));
                const Parameters set = settled(*family, settings, {}, backend);
                const Parameters acting = family->acting(set, backend);
                CHECK(family->acting(acting, backend) == acting);
                for (const Parameter& row : family->parameters) {
                    INFO(row.name);
                    CHECK_FALSE(row.check(acting.at(row.name)));
                    if (row.end) CHECK(static_cast<double>(acting.integer(row.name)) <= row.last(set));
                }
            }
}

TEST_CASE("memory: used parameters depend on rule and backend", "[schema][memory]") {
    const auto rule = [](const char* name) { return Settings{{"rule", name}}; };
    CHECK(why_unused("memory", "slot_count", rule("titans")) == "only for rule lattice");
    CHECK(why_unused("memory", "slot_count", rule("lattice")).empty());
    CHECK(why_unused("memory", "omega_window", rule("atlas")) == "only for rule atlas_omega");
    CHECK(why_unused("memory", "omega_window", rule("atlas_omega")).empty());
    for (const char* name : {"compress", "lambda_k", "lambda_v"}) {
        CHECK(why_unused("memory", name, rule("delta")) == "only for rule trellis");
        CHECK(why_unused("memory", name, rule("trellis")).empty());
    }
    for (const char* name : {"precision", "launch"}) {
        CHECK(why_unused("memory", name) == "only on CUDA");
        CHECK(why_unused("memory", name, {}, Backend::cuda).empty());
    }
    for (const char* name : {"chunk", "C_G", "C_L", "readout", "levels", "normalise", "dtype"})
        CHECK(why_unused("memory", name).empty());
}

TEST_CASE("memory: chunks are limited by the length, drawn indices by their arrays", "[schema][memory]") {
    const Settings settings = {{"length", int64_t{100}}, {"batch", int64_t{3}}, {"d", int64_t{5}}};
    for (const char* name : {"chunk", "C_G", "C_L"}) CHECK(last("memory", name, settings) == 100);
    CHECK(last("memory", "drawn_batch", settings) == 2);
    CHECK(last("memory", "drawn_channel", settings) == 4);
    CHECK(last("memory", "drawn_boundary", {{"length", int64_t{100}}, {"chunk", int64_t{33}}}) == 4);
    CHECK(last("memory", "drawn_boundary", {{"length", int64_t{100}}, {"chunk", int64_t{1} << 20}}) == 1);
    CHECK(last("memory", "omega_window", settings) == 1 << 24);
}

TEST_CASE("scan: used parameters depend on op and direction, limits on the shape", "[schema][scan]") {
    CHECK(why_unused("scan", "compensated").empty());
    CHECK(why_unused("scan", "compensated", {{"op", "max"}}) == "only for op sum or complex_sum");
    CHECK(why_unused("scan", "dtype", {{"op", "complex_sum"}}) == "not for op complex_sum or complex_linear");
    CHECK(why_unused("scan", "backward", {{"op", "min"}, {"direction", "both"}}).empty());
    CHECK(last("scan", "drawn_batch", {{"batch", int64_t{7}}}) == 6);
    CHECK(last("scan", "drawn_channel", {{"channels", int64_t{1}}}) == 0);
    CHECK(last("scan", "example_step", {{"example_length", int64_t{2}}}) == 1);
    CHECK(last("scan", "example_step", {{"example_length", int64_t{16}}}) == 7);
}

TEST_CASE("the other families declare when their parameters are used", "[schema]") {
    CHECK(why_unused("attention", "warps") == "only on CUDA");
    CHECK(why_unused("attention", "warps_backward", {}, Backend::cuda) == "only in the backward pass");
    CHECK(why_unused("attention", "warps_backward", {{"backward", true}}, Backend::cuda).empty());
    CHECK(last("attention", "window", {{"N", int64_t{300}}}) == 300);
    CHECK(why_unused("btp", "wpb") == "only on CUDA");
    for (const char* family : {"lut", "lut_sequence"}) {
        CHECK(why_unused(family, "synapses_per_neuron") == "only for connectivity sparse");
        const Settings sparse = {{"connectivity", "sparse"}};
        CHECK(why_unused(family, "synapses_per_neuron", sparse).empty());
        CHECK(why_unused(family, "synapse_group_size", sparse) == "only on CUDA");
        CHECK(why_unused(family, "synapse_group_size", sparse, Backend::cuda).empty());
        CHECK(why_unused(family, "synapse_group_size", {}, Backend::cuda) == "only for connectivity sparse");
        CHECK(why_unused(family, "rescale") == "only for arithmetic integer");
        CHECK(why_unused(family, "lr") == "only in the backward pass");
        CHECK(why_unused(family, "gradient_policy", {{"backward", true}}).empty());
    }
}

TEST_CASE("an unused parameter, or one beyond its limit, changes no bit", "[engine]") {
    // A small shape, and the parameter whose choices decide what is used.
    struct Small {
        const char* kind;
        Settings settings;
    };
    const std::map<std::string, Small> shapes = {
        {"scan", {"op", {{"batch", int64_t{2}}, {"length", int64_t{19}}}}},
        {"memory",
         {"rule",
          {{"batch", int64_t{2}},
           {"length", int64_t{19}},
           {"d", int64_t{6}},
           {"compress", int64_t{3}},
           {"chunk", int64_t{19}}}}},
        {"attention", {"backward", {{"N", int64_t{19}}, {"D", int64_t{16}}}}},
        {"btp", {"order", {{"L", int64_t{40}}, {"DH", int64_t{3}}}}},
        {"ar_ssm",
         {"gate_mode",
          {{"length", int64_t{19}}, {"d_model", int64_t{6}}, {"max_rank", int64_t{3}}, {"backward", true}}}},
        {"lut", {"connectivity", {{"batch", int64_t{3}}, {"detectors", int64_t{5}}, {"backward", true}}}},
        {"lut_sequence",
         {"connectivity", {{"sequence_length", int64_t{9}}, {"detectors", int64_t{3}}, {"backward", true}}}},
    };
    for (const Family* family : offered_families()) {
        const auto has_limits = [](const Parameter& row) {
            return row.renews != Renews::figures && (!row.applies.empty() || row.end);
        };
        if (std::none_of(family->parameters.begin(), family->parameters.end(), has_limits)) continue;
        INFO(family->name);
        REQUIRE(shapes.contains(family->name));
        const auto& [kind, shape] = shapes.at(family->name);
        int compared = 0;
        for (const Value& choice : family->parameter(kind)->choices) {
            Settings settings = shape;
            settings.emplace_back(kind, choice);
            compared += check_without_effect(*family, settings);
        }
        CHECK(compared > 0);
    }
}

TEST_CASE("a used parameter changes bits", "[engine]") {
    const auto differ = [](const char* name, const Settings& settings, const char* parameter, Value value) {
        const Family& family = schema_facts::family_named(name);
        Settings other = settings;
        other.emplace_back(parameter, std::move(value));
        INFO(name << " " << parameter);
        CHECK_FALSE(same_bits(computed(*configure(request_with(family, settings), {})),
                              computed(*configure(request_with(family, other), {}))));
    };
    const Settings small = {{"length", int64_t{19}}, {"d", int64_t{6}}, {"compress", int64_t{3}}};
    const auto with_rule = [&](const char* rule) {
        Settings settings = small;
        settings.emplace_back("rule", rule);
        return settings;
    };
    differ("memory", with_rule("lattice"), "slot_count", int64_t{4});
    differ("memory", with_rule("atlas_omega"), "omega_window", int64_t{4});
    differ("memory", with_rule("trellis"), "lambda_v", 0.5);
    differ("memory", with_rule("titans"), "chunk", int64_t{18});
    differ("memory", with_rule("hebbian"), "C_L", int64_t{18});
    differ("scan", {{"length", int64_t{1000}}}, "compensated", true);
    differ("attention", {{"N", int64_t{19}}, {"D", int64_t{6}}}, "base", 500.0);
}

TEST_CASE("settings without effect keep inputs and references and are noted in the result", "[engine]") {
    Runner runner(shared_cache());
    const Family& family = schema_facts::family_named("memory");
    const Settings base = {{"length", int64_t{40}},
                           {"d", int64_t{4}},
                           {"rule", "titans"},
                           {"chunk", int64_t{4096}},
                           {"levels", std::vector<int64_t>{1, 8}}};
    const auto result_of = [&](const Settings& more) {
        const auto outcome = runner.run(request_with(family, with(base, more)), {});
        REQUIRE(outcome);
        return *outcome;
    };
    const auto data_of = [](const Result& result) {
        std::vector<const void*> data;
        for (const Arrays& arrays : {result.inputs, result.reference})
            for (const Array& array : arrays) data.push_back(array.data.get());
        return data;
    };
    const auto first = result_of({});
    REQUIRE(find(first->reference, "level_y"));
    CHECK(first->notes.end() == std::find_if(first->notes.begin(), first->notes.end(), [](const auto& note) {
              return contains(note, "has no effect");
          }));
    for (const auto& [name, value] :
         Settings{{"slot_count", int64_t{64}}, {"lambda_k", 0.5}, {"precision", "bf16"}}) {
        INFO(name);
        const auto other = result_of({{name, value}});
        CHECK(data_of(*other) == data_of(*first));
        CHECK(other->parameters.at(name) == value);
        const std::string note =
            name + " has no effect: " + family.parameter(name)->why_unused(other->parameters, Backend::cpu);
        CHECK(std::find(other->notes.begin(), other->notes.end(), note) != other->notes.end());
    }
    const auto longer = result_of({{"chunk", int64_t{8192}}});
    CHECK(data_of(*longer) == data_of(*first));
    CHECK(longer->parameters.integer("chunk") == 8192);
    const std::string end = "chunk = 8192 acts like 40 (length)";
    CHECK(std::find(longer->notes.begin(), longer->notes.end(), end) != longer->notes.end());
    CHECK(data_of(*result_of({{"rule", "delta"}})) != data_of(*first));
}

TEST_CASE("an axis without effect in any cell is noted and still runs", "[engine]") {
    const Family& memory = schema_facts::family_named("memory");
    const std::vector<Value> counts = {int64_t{4}, int64_t{8}};
    const auto notes = [&](const Settings& settings, std::vector<SweepAxis> axes) {
        const Sweep sweep{"", request_with(memory, settings), std::move(axes)};
        CHECK_FALSE(check_sweep(sweep));
        return axes_without_effect(sweep);
    };
    using Notes = std::vector<std::string>;
    CHECK(notes({{"rule", "titans"}}, {{"slot_count", counts}}) ==
          Notes{"slot_count has no effect: only for rule lattice"});
    CHECK(notes({{"rule", "lattice"}}, {{"slot_count", counts}}).empty());
    CHECK(notes({}, {{"rule", {"delta", "lattice"}}, {"slot_count", counts}}).empty());
    CHECK(notes({}, {{"chunk", counts}, {"precision", {"f32", "tf32"}}}) ==
          Notes{"precision has no effect: only on CUDA"});
    const std::vector<Value> chunks = {int64_t{32}, int64_t{64}, int64_t{128}};
    CHECK(notes({{"length", int64_t{64}}}, {{"chunk", chunks}}) ==
          Notes{"chunk = 128 acts like 64 (length)"});

    Sweep sweep{"", request_with(memory, {}), {{"precision", {"f32", "tf32"}}}};
    sweep.base.backend = BackendChoice::automatic;
    CHECK(axes_without_effect(sweep).empty());
    sweep.base.backend = BackendChoice::cpu;
    sweep.base.arch = "sm_90a";  // compiled for CUDA, so precision is used
    CHECK(axes_without_effect(sweep).empty());
}

}  // namespace sawtooth

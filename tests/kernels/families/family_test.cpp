// Properties of every family, variant and setting on the CPU, over random settings from the schemas.

#include <set>

#include "kernels/core/common_parameters.h"
#include "tests/kernels/families/family_properties.h"

namespace sawtooth {
namespace {

Plan plan_of(const RandomCase& drawn, const Arrays& inputs, bool dry = false) {
    return plan_on_cpu(drawn.family, drawn.variant.name, drawn.parameters, inputs, dry);
}

cpu::Pool& pool_of_four() {
    static cpu::Pool pool(4);
    return pool;
}

TEST_CASE("every variant is right over random settings", "[family][random][cpu]") {
    for_every_family("agreement", processor, nullptr, {},
                     [](RandomCase& drawn) { return check_right(processor, drawn, drawn.inputs); });
}

TEST_CASE("the definition of an exact variant is the reference", "[family][random][cpu]") {
    const auto is_exact = [](const Family&, const Variant& variant, const Parameters& parameters) {
        return variant.is_exact(parameters);
    };
    for_every_family("definitions", processor, nullptr, is_exact, [](RandomCase& drawn) {
        const auto& [family, variant, parameters, inputs, words, random] = drawn;
        const Arrays reference = *family.reference(parameters, inputs, {});
        int64_t compared = 0;
        const Arrays defined = *family.definition({variant, parameters, inputs});
        for (const Array& output : defined) {
            const Array* const right = find(reference, output.name);
            if (!right) continue;
            INFO(output.name);
            CHECK(distance(output, *right) < 1e-12);
            compared += output.count();
        }
        return compared;
    });
}

// A method may do fewer operations than the exact rule: frozen errors of memory do. One position of look-up
// tables has no pairs, so that gradients are zeros without work.
TEST_CASE("the launches of a variant do at least its minimum of work", "[family][random][cpu]") {
    for_every_family("minimum of work", processor, nullptr, {}, [](RandomCase& drawn) {
        const auto& [family, variant, parameters, inputs, words, random] = drawn;
        const Plan plan = plan_of(drawn, inputs);
        const Work least = work_of(family, variant, parameters, inputs);
        Work done;
        for (const Launch& launch : plan.launches) {
            done.operations += launch.info->work.operations;
            done.bytes += launch.info->work.bytes;
        }
        INFO(family.name << " " << variant.name << ": " << words);
        CHECK(work_of(family, variant, parameters, inputs, plan).operations ==
              std::min(least.operations, done.operations));
        const bool has_pairs =
            !parameters.has("sequence_length") || parameters.integer("sequence_length") > 1;
        if (!variant.is_exact(parameters) || !has_pairs) return int64_t{0};
        CHECK(least.bytes <= done.bytes);
        // Look-up tables that merge equal events, and blocks without an earlier one, have less to add.
        constexpr double slack = 1.05;  // the first positions of a sequence have less to do than others
        const std::set<std::string> counted = {"scan", "memory", "attention"};
        if (counted.contains(family.name)) CHECK(least.operations <= slack * done.operations);
        return int64_t{1};
    });
}

TEST_CASE("an element off by a hundredth, a row of zeros and NaN are wrong", "[family][random][cpu]") {
    using Damage = void (*)(std::span<float> row, float& largest);
    const std::initializer_list<Damage> damages = {
        [](std::span<float>, float& largest) { largest *= 1.01f; },
        [](std::span<float> row, float&) { std::ranges::fill(row, 0.0f); },
        [](std::span<float>, float& largest) { largest = NAN; }};
    const auto size = [](float number) { return std::isfinite(number) ? std::abs(number) : -1; };
    // If kernels store 16 bits, rounding may explain a few hundredths.
    const auto is_f32 = [](const Family&, const Variant&, const Parameters& parameters) {
        const auto is_wide = [&](const char* name) {
            return !parameters.has(name) || parameters.is(name, "f32");
        };
        return is_wide("dtype") && is_wide("out_dtype");
    };
    for_every_family("damaged outputs", processor, nullptr, is_f32, [&](RandomCase& drawn) {
        Definitions definitions;
        const auto verdicts_on = [&](const Arrays& outputs) {
            return judged(drawn.family, drawn.variant.name, drawn.parameters, drawn.inputs, outputs,
                          Backend::cpu, &definitions);
        };
        const Arrays right = run(drawn.family, drawn.variant.name, drawn.parameters, drawn.inputs).outputs;
        const auto before = verdicts_on(right);
        int64_t found = 0;
        for (size_t i = 0; i < before.size(); ++i)
            for (const Damage damage : damages) {
                Arrays outputs = copied(right);
                Array& output = *find(outputs, before[i].output);
                const auto numbers = output.as<float>();
                const auto largest = std::ranges::max_element(numbers, {}, size);
                if (before[i].verdict != Verdict::right || output.dtype == Dtype::int32) continue;
                if (numbers.empty() || size(*largest) <= 0) continue;
                const auto row = numbers.size() / static_cast<size_t>(output.count() / output.shape.back());
                const auto place = static_cast<size_t>(largest - numbers.begin());
                damage(numbers.subspan(place / row * row, row), *largest);
                INFO(output.name << " is " << *largest << " at number " << place);
                CHECK(verdicts_on(outputs)[i].verdict == Verdict::wrong);
                ++found;
            }
        return found;
    });
}

TEST_CASE("the first draws of a definition allow no number more than a few draws do",
          "[family][random][cpu]") {
    for_every_family("first draws", processor, nullptr, {}, [&](RandomCase& drawn) {
        const DefinitionRequest request{drawn.variant, drawn.parameters, drawn.inputs};
        const Rounding rounding = rounding_of(drawn.family, drawn.variant, drawn.parameters, Backend::cpu);
        const auto exact = drawn.family.definition(request);
        REQUIRE(exact);
        const auto expected_of = [&](int draws) {
            std::vector<Expected> outputs;
            for (const Array& array : *exact) outputs.push_back({array});
            REQUIRE_FALSE(add_spread(drawn.family, request, rounding, 1, outputs, draws));
            return outputs;
        };
        const auto first = expected_of(first_draws), few = expected_of(few_draws);
        int64_t numbers = 0;
        for (size_t i = 0; i < few.size(); ++i) {
            INFO(few[i].want.name);
            const auto& least = first[i].spread;
            // NaN allows anything.
            CHECK(std::equal(least.begin(), least.end(), few[i].spread.begin(), few[i].spread.end(),
                             [](float of_first, float of_few) { return !(of_first > of_few); }));
            numbers += std::ranges::count_if(least, [](float spread) { return spread > 0; });
        }
        return numbers;
    });
}

TEST_CASE("all thread counts and repeated runs give the same bits", "[family][random][cpu][threads]") {
    static cpu::Pool two(2);
    for_every_family("same bits", processor, nullptr, {}, [](RandomCase& drawn) {
        const Arrays first = copied(run(plan_of(drawn, drawn.inputs), pool_of_one()).outputs);
        for (cpu::Pool* pool : {&two, &pool_of_four()}) {
            INFO(pool->threads() << " threads");
            // A new plan, because the memory of another one could contain the answer.
            const Plan plan = plan_of(drawn, drawn.inputs);
            CHECK(same_bits(first, copied(run(plan, *pool).outputs)));
            CHECK(same_bits(first, run(plan, *pool).outputs));
        }
        int64_t compared = 0;
        for (const Array& output : first) compared += output.count();
        return compared;
    });
}

TEST_CASE("non-finite values spread only as far as in the reference", "[family][random][cpu]") {
    check_strange_numbers(processor);
}

TEST_CASE("sequences of a batch are independent", "[family][random][cpu]") {
    check_separate_sequences(processor);
}

TEST_CASE("a sequence has the same bits alone as in a batch", "[family][random][cpu]") {
    check_lone_sequences(processor);
}

TEST_CASE("later positions do not change earlier ones on a causal axis", "[family][random][cpu]") {
    check_causal_prefixes(processor, false);
}

TEST_CASE("launches on the CPU match their descriptions", "[family][random][cpu]") {
    for_every_family("described launches", processor, nullptr, {}, [](RandomCase& drawn) {
        const Plan plan = plan_of(drawn, drawn.inputs);
        const Arrays outputs = run(plan, pool_of_one()).outputs;
        const auto& dispatches = pool_of_one().records();
        REQUIRE(dispatches.size() == std::min(plan.launches.size(), most_kept_launches));
        for (size_t i = 0; i < dispatches.size(); ++i) {
            INFO(plan.launches[i].info->name);
            CHECK(dispatches[i].items == plan.launches[i].info->grid.x);
        }
        return check_described(plan, drawn.inputs, outputs);
    });
}

TEST_CASE("a dry plan on the CPU counts exactly the memory of the plan", "[family][random][cpu]") {
    for_every_family("dry plans", processor, nullptr, {}, [](RandomCase& drawn) {
        const Plan dry = plan_of(drawn, without_data(drawn.inputs), true);
        const Plan plan = plan_of(drawn, drawn.inputs);
        CHECK(dry.memory_bytes == plan.memory_bytes);
        CHECK(dry.launch_bytes == plan.launch_bytes);
        return int64_t{1};
    });
}

TEST_CASE("the memory of a plan on the CPU includes the scratch of every worker", "[family][random][cpu]") {
    for_every_family("scratch", processor, nullptr, {}, [](RandomCase& drawn) {
        const Plan one = plan_of(drawn, drawn.inputs);
        const Plan five = *make_plan({.family = drawn.family,
                                      .variant = variant_on_cpu(drawn.family, drawn.variant.name),
                                      .parameters = drawn.parameters,
                                      .inputs = drawn.inputs,
                                      .workers = 5,
                                      .stores_extras = true});
        int64_t most = 0;
        for (const Launch& launch : one.launches) most = std::max(most, launch.info->scratch_bytes);
        CHECK(five.memory_bytes - one.memory_bytes == 4 * most);
        return int64_t{1};
    });
}

// Returns the defaults, or if the variant refuses them, the defaults with the first choice that it accepts.
Parameters accepted_choices(const Family& family, const Variant& variant) {
    const Parameters defaults = settled(family);
    if (!variant.refusal(defaults, cpu_chip())) return family.defaults();
    for (const Parameter& row : family.parameters)
        for (const Value& choice : row.choices)
            if (!variant.refusal(settled(family, {{row.name, choice}}), cpu_chip())) {
                Parameters parameters = family.defaults();
                parameters.set(row.name, choice);
                return parameters;
            }
    return family.defaults();
}

// Halves the integers that the family refuses until it accepts the settings. Returns whether it does.
bool lower_until_accepted(const Family& family, Parameters& parameters) {
    while (const auto refusal = family.check ? family.check(parameters) : std::nullopt) {
        const Parameter* const row = family.parameter(refusal->argument);
        if (!row || row->type != Type::integer) return false;
        const auto least = static_cast<int64_t>(row->minimum);
        const int64_t value = parameters.integer(row->name);
        if (value <= least) return false;
        parameters.set(row->name, std::max(value / 2, least));
    }
    return true;
}

// Every integer has the largest value that the family accepts, except for one, which has its smallest.
TEST_CASE("the memory of the largest settings is known without their launches", "[family][cpu]") {
    // Returns whether the family and the variant accept the settings.
    const auto check = [](const Family& family, const Variant& variant, Parameters parameters) {
        if (!lower_until_accepted(family, parameters) || variant.refusal(parameters, cpu_chip()))
            return false;
        INFO(words_of(family, parameters));
        const Arrays inputs = input_shapes(family, parameters);
        const Plan dry = plan_on_cpu(family, variant.name, parameters, inputs, true);
        CHECK(dry.launches.size() < 1000);
        CHECK(dry.memory_bytes > 0);
        CHECK(dry.launch_bytes > 0);
        return true;
    };
    for (const Family* family : offered_families())
        for (const Variant& variant : family->variants) {
            if (!variant.plan_cpu) continue;
            INFO(family->name << " " << variant.name);
            int planned = 0;
            for (const Parameter& smallest : family->parameters) {
                if (smallest.type != Type::integer) continue;
                Parameters parameters = accepted_choices(*family, variant);
                for (const Parameter& row : family->parameters)
                    if (row.type == Type::integer)
                        parameters.set(row.name,
                                       static_cast<int64_t>(&row == &smallest ? row.minimum : row.maximum));
                if (family->settle) family->settle(parameters, {}, Backend::cpu);
                planned += check(*family, variant, parameters);
                if (!family->parameter("levels")) continue;
                parameters.set("levels", std::vector<int64_t>(32, 1));
                planned += check(*family, variant, parameters);
            }
            CHECK(planned > 0);
        }
}

}  // namespace
}  // namespace sawtooth

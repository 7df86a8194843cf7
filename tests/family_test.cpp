// What holds for every family, variant and setting on the CPU, over random settings from the schemas.

#include "tests/family_properties.h"

namespace sawtooth {
namespace {

cpu::Pool& pool_of_four() {
    static cpu::Pool pool(4);
    return pool;
}

bool is_exact(const Family&, const Variant& variant, const Parameters& parameters) {
    return variant.is_exact(parameters);
}

bool has_several_sequences(const Family& family, const Variant&, const Parameters& parameters) {
    return parameters.integer(batch_axis(family)) > 1;
}

bool is_causal(const Family& family, const Variant&, const Parameters& parameters) {
    return family.causal(parameters) && parameters.integer(family.sequence_axis) > 1;
}

Ran run_case(const RandomCase& drawn, const Arrays& inputs) {
    return run(drawn.family, drawn.variant.name, drawn.parameters, inputs);
}

Plan plan_of(const RandomCase& drawn, const Arrays& inputs, bool dry = false) {
    return plan_on_cpu(drawn.family, drawn.variant.name, drawn.parameters, inputs, dry);
}

TEST_CASE("every exact variant agrees with the reference over random settings", "[family][random][cpu]") {
    for_every_family("agreement", processor, nullptr, is_exact, [](RandomCase& drawn) {
        const Wanted wanted = wanted_of_reference(drawn.family, drawn.parameters, drawn.inputs);
        const auto wild = wild_sequences(drawn.family, drawn.parameters, wanted);
        return check_outputs(drawn, run_case(drawn, drawn.inputs).outputs, wanted, wild,
                             rounding_of(drawn.parameters));
    });
}

TEST_CASE("any number of threads gives the same bits, and so does another run", "[family][random][cpu]") {
    static cpu::Pool two(2);
    for_every_family("same bits", processor, nullptr, {}, [](RandomCase& drawn) {
        const Plan plan = plan_of(drawn, drawn.inputs);
        const Arrays first = copied(run(plan, pool_of_one()).outputs);
        for (cpu::Pool* pool : {&two, &pool_of_four(), &two, &pool_of_one()}) {
            INFO(pool->threads() << " threads");
            CHECK(same_bits(first, run(plan, *pool).outputs));
        }
        int64_t compared = 0;
        for (const Array& output : first) compared += output.count();
        return compared;
    });
}

TEST_CASE("what is not finite spoils only what it spoils in the reference", "[family][random][cpu]") {
    for_every_family("one strange number", processor, nullptr, is_exact, [](RandomCase& drawn) {
        const Wanted before = wanted_of_reference(drawn.family, drawn.parameters, drawn.inputs);
        const Strange strange = with_strange(drawn);
        const Wanted wanted = wanted_of_reference(drawn.family, drawn.parameters, strange.inputs);
        auto wild = wild_sequences(drawn.family, drawn.parameters, wanted);
        const auto wild_before = wild_sequences(drawn.family, drawn.parameters, before);
        for (size_t i = 0; i < wild.size(); ++i) wild[i] = wild[i] || wild_before[i];
        INFO(strange.words);
        return check_outputs(drawn, run_case(drawn, strange.inputs).outputs, wanted, wild,
                             rounding_of(drawn.parameters));
    });
}

TEST_CASE("sequences of a batch do not touch each other", "[family][random][cpu]") {
    for_every_family(
        "separate sequences", processor, has_sequences, has_several_sequences, [](RandomCase& drawn) {
            const std::string batch = batch_axis(drawn.family);
            const Strange strange = with_strange(drawn);
            const Dimension sequences = dimension_of(drawn.family, *find(drawn.inputs, strange.array), batch);
            if (!sequences.there) return int64_t{0};
            INFO(strange.words);
            const Ran before = run_case(drawn, drawn.inputs), after = run_case(drawn, strange.inputs);
            int64_t compared = 0;
            for (const Array& output : after.outputs) {
                const Dimension held = dimension_of(drawn.family, output, batch);
                if (!held.there) continue;
                INFO(output.name);
                compared += check_same_bits(output, before[output.name], [&](int64_t i) {
                    return held.of(i) != sequences.of(strange.element);
                });
            }
            return compared;
        });
}

TEST_CASE("nothing that comes later changes what is earlier on a causal axis", "[family][random][cpu]") {
    for_every_family("causal prefixes", processor, can_be_causal, is_causal, [](RandomCase& drawn) {
        const Prefix prefix = with_other_end(drawn);
        INFO(prefix.words);
        const Ran before = run_case(drawn, drawn.inputs), after = run_case(drawn, prefix.inputs);
        int64_t compared = 0;
        for (const Array& output : after.outputs) {
            const Dimension positions = dimension_of(drawn.family, output, drawn.family.sequence_axis);
            if (!positions.there) continue;
            INFO(output.name);
            compared += check_same_bits(output, before[output.name],
                                        [&](int64_t i) { return positions.of(i) < prefix.length; });
        }
        return compared;
    });
}

TEST_CASE("launches on the CPU are what they say", "[family][random][cpu]") {
    for_every_family("described launches", processor, nullptr, {}, [](RandomCase& drawn) {
        const Plan plan = plan_of(drawn, drawn.inputs);
        const auto outputs = run(plan, pool_of_four()).outputs;
        const auto& dispatches = pool_of_four().records();
        REQUIRE(dispatches.size() == std::min(plan.launches.size(), most_kept_launches));
        for (size_t i = 0; i < dispatches.size(); ++i) {
            INFO(plan.launches[i].info->name);
            CHECK(dispatches[i].items == plan.launches[i].info->grid.x);
        }
        return check_described(plan, drawn.inputs, outputs);
    });
}

TEST_CASE("a dry plan asks on the CPU for exactly the memory that the plan takes", "[family][random][cpu]") {
    for_every_family("dry plans", processor, nullptr, {}, [](RandomCase& drawn) {
        const Arrays shapes = without_data(drawn.inputs);
        CHECK(plan_of(drawn, shapes, true).memory_bytes == plan_of(drawn, drawn.inputs).memory_bytes);
        return int64_t{1};
    });
}

}  // namespace
}  // namespace sawtooth

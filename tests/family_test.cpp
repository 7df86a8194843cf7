// Properties of every family, variant and setting on the CPU, over random settings from the schemas.

#include "tests/family_properties.h"

namespace sawtooth {
namespace {

Plan plan_of(const RandomCase& drawn, const Arrays& inputs, bool dry = false) {
    return plan_on_cpu(drawn.family, drawn.variant.name, drawn.parameters, inputs, dry);
}

cpu::Pool& pool_of_four() {
    static cpu::Pool pool(4);
    return pool;
}

TEST_CASE("every exact variant agrees with the reference over random settings", "[family][random][cpu]") {
    for_every_family("agreement", processor, nullptr, is_exact, [](RandomCase& drawn) {
        const Tolerance tolerance = tolerance_of(drawn.variant, drawn.parameters, Backend::cpu);
        const Wanted wanted =
            wanted_of_reference(drawn.family, drawn.parameters, drawn.inputs, tolerance.products);
        const auto wild = wild_sequences(drawn.family, drawn.parameters, wanted);
        return check_outputs(drawn, processor, on_cpu().run(drawn, drawn.inputs), wanted, wild);
    });
}

TEST_CASE("all thread counts and repeated runs give the same bits", "[family][random][cpu]") {
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
    check_strange_numbers(on_cpu());
}

TEST_CASE("sequences of a batch are independent", "[family][random][cpu]") {
    check_separate_sequences(on_cpu());
}

TEST_CASE("a sequence has the same bits alone as in a batch", "[family][random][cpu]") {
    check_lone_sequences(on_cpu());
}

TEST_CASE("later positions do not change earlier ones on a causal axis", "[family][random][cpu]") {
    check_causal_prefixes(on_cpu(), false);
}

TEST_CASE("launches on the CPU match their descriptions", "[family][random][cpu]") {
    for_every_family("described launches", processor, nullptr, {}, [](RandomCase& drawn) {
        const Plan plan = plan_of(drawn, drawn.inputs);
        const Arrays outputs = run(plan, pool_of_four()).outputs;
        const auto& dispatches = pool_of_four().records();
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

TEST_CASE("what should not be finite is looked for in outputs without a batch too", "[family]") {
    const auto array = [](const char* name, Shape shape, std::vector<double> values) {
        Array made = Array::uninitialised(name, Dtype::f64, std::move(shape));
        std::ranges::copy(values, made.as<double>().begin());
        return made;
    };
    const Family& lut = *find_family("lut");  // a gradient of weights has terms of all items
    const auto worst = [&](const Array& got, const Array& wanted, const Array& moved, bool wild) {
        return compare(lut, got, wanted, moved, {wild, false}, 1e-5, 0).worst;
    };
    const Array finite = array("dweights", {1, 2, 1}, {1, 2}),
                infinite = array("dweights", {1, 2, 1}, {1, INFINITY});
    CHECK(worst(finite, infinite, infinite, false) == INFINITY);
    CHECK(worst(infinite, infinite, infinite, false) == 0);
    CHECK(worst(finite, infinite, infinite, true) == 0);  // of a wild item
    CHECK(worst(finite, infinite, finite, false) == 0);   // a perturbation makes it finite
    CHECK(worst(infinite, finite, infinite, false) == 0);
    CHECK(worst(infinite, finite, finite, false) == INFINITY);
}

// Every integer at its largest value, but one of them at its smallest.
TEST_CASE("the memory of the largest settings is known without their launches", "[family][cpu]") {
    const auto check = [](const Family& family, const Parameters& parameters) {
        if (family.check && family.check(parameters)) return;
        const Arrays inputs = input_shapes(family, parameters);
        for (const Variant& variant : family.variants) {
            if (!variant.plan_cpu || variant.refusal(parameters, cpu_chip())) continue;
            INFO(family.name << " " << variant.name << " " << words_of(family, parameters));
            const Plan dry = plan_on_cpu(family, variant.name, parameters, inputs, true);
            CHECK(dry.launches.size() < 1000);
            CHECK(dry.memory_bytes > 0);
            CHECK(dry.launch_bytes > 0);
        }
    };
    for (const Family* family : offered_families())
        for (const Parameter& smallest : family->parameters) {
            if (smallest.type != Type::integer) continue;
            Parameters parameters = family->defaults();
            for (const Parameter& row : family->parameters)
                if (row.type == Type::integer)
                    parameters.set(row.name,
                                   static_cast<int64_t>(&row == &smallest ? row.minimum : row.maximum));
            if (family->settle) family->settle(parameters, {}, Backend::cpu);
            check(*family, parameters);
            if (!family->parameter("levels")) continue;
            parameters.set("levels", std::vector<int64_t>(32, 1));
            check(*family, parameters);
        }
}

}  // namespace
}  // namespace sawtooth

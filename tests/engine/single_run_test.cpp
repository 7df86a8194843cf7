// A run counts the output values that change between repeats.

#include "app/engine/run/single_run.h"

#include "app/engine/run/compare.h"
#include "app/engine/run/runner.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/families.h"
#include "kernels/figures/correctness.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"
#include "tests/scale/family.h"

namespace sawtooth {
namespace {

// A plan whose output is zero, except for `row` places that contain the number of the run.
Outcome<Plan> counting_plan(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const auto y = builder.output("y").as<float>();
    const auto runs = builder.take_zeroed<float>(1);
    const auto moving = static_cast<int64_t>(request.variant.row);
    const int64_t count = request.parameters.integer("batch") * request.parameters.integer("length");
    builder.launch({.name = "count", .meaning = "Counts runs."}, Side{}, [=](const cpu::Item&) {
        ++*runs;
        for (int64_t i = 0; i < count; ++i) y[i] = i < moving ? *runs : 0;
    });
    return builder.finish();
}

// The family scale with variants that change three values, none, and three without saying so.
Family changing_family() {
    Family family = scale_family();
    Variant variant = family.variants[0];
    variant.plan_cpu = counting_plan;
    family.variants.clear();
    const auto add = [&](const char* name, size_t changed, bool (*unordered)(const Parameters&)) {
        variant.name = name;
        variant.row = changed;
        variant.unordered = unordered;
        family.variants.push_back(variant);
    };
    const auto always = [](const Parameters&) { return true; };
    add("changing", 3, always);
    add("steady", 0, always);
    add("secret", 3, nullptr);
    return family;
}

struct Setting {
    Family family = changing_family();
    Request request;
    Configuration configuration;
    Machine machine{.chip = processor, .words = "a processor", .pool = &pool_of_one(), .notes = {}};
    Arrays inputs;

    Setting() {
        request.family = "scale";
        request.repeats = 2;
        request.cache = Cache::hot;
        configuration.family = &family;
        configuration.parameters = settled(family, {{"length", int64_t{64}}});
        for (const Variant& variant : family.variants) configuration.variants.push_back(&variant);
        inputs = generated_inputs(family, configuration.parameters);
    }
};

const Metric* changes_of(const Result& result, const std::string& variant) {
    for (const Metric& metric : find(result, variant)->metrics)
        if (metric.id == "changed_values") return &metric;
    return nullptr;
}

TEST_CASE("outputs that change from one repeat to another are wrong, and counted in unordered variants",
          "[engine]") {
    Setting setting;
    const bool stores_extras = GENERATE(false, true);
    setting.request.repeats = GENERATE(1, 2, 0);
    Definitions definitions;
    const Prepared prepared{
        setting.request, setting.configuration, setting.machine, setting.inputs, {}, definitions, {},
        stores_extras};
    TimeLimit limit({}, {});
    const OnProgress progress;
    SingleRun run(prepared, limit, progress);
    REQUIRE_FALSE(run.compute_outputs());
    REQUIRE_FALSE(run.prepare_timing());
    REQUIRE_FALSE(run.measure_variants());
    const Result& result = run.result();
    CHECK_FALSE(changes_of(result, "secret"));
    CHECK(find(result, "steady")->verdict() == Verdict::pending);  // without a reference
    if (setting.request.repeats == 0) {
        CHECK_FALSE(changes_of(result, "changing"));
        return;
    }
    const VariantResult& secret = *find(result, "secret");
    CHECK(secret.verdict() == Verdict::wrong);
    CHECK(secret.verdicts[0].elements == 3);
    CHECK(secret.verdicts[0].worst->index == Shape{0, 0});
    CHECK(
        contains(wrong_sentence(secret),
                 " changed from the first run to the last repeat: 3 of 128 elements, the first at [0, 0]: "));
    CHECK(find(result, "changing")->verdict() == Verdict::pending);
    REQUIRE(changes_of(result, "changing"));
    CHECK(*changes_of(result, "changing")->value == 3);
    CHECK(*changes_of(result, "steady")->value == 0);
    REQUIRE(result.notes.size() == 1);
    CHECK(result.notes[0] == "changing: 3 of 128 output values changed from one repeat to another");
}

TEST_CASE("values count as changed if any of their bits differ", "[engine]") {
    Array before = Array::zeros("y", Dtype::f32, {4}), after = Array::zeros("y", Dtype::f32, {4});
    before.as<float>()[1] = after.as<float>()[1] = NAN;
    CHECK(changed_values(before, after) == 0);
    after.as<float>()[2] = -0.0f;
    after.as<float>()[3] = 1;
    CHECK(changed_values(before, after) == 2);
    Array complex = Array::zeros("y", Dtype::complex64, {2}),
          other = Array::zeros("y", Dtype::complex64, {2});
    other.as<std::complex<float>>()[1] = {0, 1};
    CHECK(changed_values(complex, other) == 1);
}

TEST_CASE("every run says which rows were judged, also one whose definitions are known", "[engine]") {
    Runner runner(shared_cache());
    Request request;
    request.family = "btp";
    request.variants = {"fused"};
    request.threads = 1;
    request.repeats = 1;
    request.parameters.set("H", int64_t{3});
    request.parameters.set("DH", int64_t{16});
    // The heads together have a little more than 2^22 numbers, the most that are judged.
    request.parameters.set("L", int64_t{87'400});
    for (int run = 0; run < 2; ++run) {
        INFO("run " << run);
        const auto outcome = runner.run(request, {}, {});
        if (!outcome) FAIL(outcome.error().text);
        const auto& notes = (*outcome)->notes;
        CHECK(std::ranges::any_of(notes, [](const std::string& note) {
            return contains(note, "verdicts on x, carry: over 2 chosen rows of 3");
        }));
        CHECK((*outcome)->variants[0].verdict() == Verdict::right);
    }
}

}  // namespace
}  // namespace sawtooth

#include "app/engine/run/definitions.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/core/noisy.h"
#include "kernels/families.h"
#include "kernels/figures/correctness.h"
#include "kernels/scan/family.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"

namespace sawtooth {
namespace {

Array numbers(Dtype dtype, const std::vector<double>& values) {
    Array array = Array::uninitialised("y", dtype, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) {
        if (dtype == Dtype::f64)
            array.as<double>()[i] = values[i];
        else
            array.as<float>()[i] = static_cast<float>(values[i]);
    }
    return array;
}

// The verdict on a single number among correct ones, when the typical error is 1e-6.
OutputVerdict verdict_on_one(double got, double want, bool may_become_nan = false) {
    std::vector<double> is(40, 1), should(40, 1);
    is[7] = got;
    should[7] = want;
    Expected expected{numbers(Dtype::f64, should), std::vector<float>(40, 1e-6f)};
    expected.may_become_nan = may_become_nan;
    return judge(numbers(Dtype::f32, is), expected, {}, Storage::f32);
}

TEST_CASE("a number is right within a few typical errors, and wrong beyond", "[judge]") {
    CHECK(verdict_on_one(1 + 5e-6, 1).verdict == Verdict::right);
    const OutputVerdict wrong = verdict_on_one(1 + 3e-5, 1);
    CHECK(wrong.verdict == Verdict::wrong);
    CHECK(wrong.elements == 1);
    CHECK(wrong.judged == 40);
    REQUIRE(wrong.worst);
    CHECK(wrong.worst->index == Shape{7});
    CHECK(wrong.worst->bound < 2e-5);
}

TEST_CASE("a number that should be finite must be, and one that should not must not", "[judge]") {
    for (const double strange : {double{NAN}, double{INFINITY}, -double{INFINITY}}) {
        CHECK(verdict_on_one(strange, 1).verdict == Verdict::wrong);
        CHECK(verdict_on_one(1, strange).verdict == Verdict::wrong);
        CHECK(verdict_on_one(strange, strange).verdict == Verdict::right);
    }
}

TEST_CASE("an infinity keeps its sign, and becomes NaN only where it is multiplied", "[judge]") {
    CHECK(verdict_on_one(-INFINITY, INFINITY).verdict == Verdict::wrong);
    CHECK(verdict_on_one(-INFINITY, INFINITY, true).verdict == Verdict::wrong);
    CHECK(verdict_on_one(NAN, INFINITY).verdict == Verdict::wrong);
    CHECK(verdict_on_one(NAN, INFINITY, true).verdict == Verdict::right);
    CHECK(verdict_on_one(INFINITY, NAN).verdict == Verdict::right);

    const auto may_become_nan = [](const Settings& more) {
        const Settings shape = {{"length", int64_t{70}}, {"channels", int64_t{1}}, {"batch", int64_t{1}}};
        const Parameters parameters = settled(scan_family(), with(shape, more));
        Arrays inputs = generated_inputs(scan_family(), parameters, false, 1);
        find(inputs, "x")->as<float>()[3] = INFINITY;
        const Variant& variant = *scan_family().variant("lookback");
        const DefinitionRequest request{variant, parameters, inputs};
        std::vector<Expected> outputs;
        auto exact = scan_family().definition(request);
        REQUIRE(exact);
        for (Array& array : *exact) outputs.push_back({std::move(array)});
        CHECK_FALSE(add_spread(scan_family(), request, {.arithmetic = 0x1p-24}, 1, outputs, few_draws));
        return outputs.front().may_become_nan;
    };
    CHECK_FALSE(may_become_nan({{"op", "sum"}}));
    CHECK_FALSE(may_become_nan({{"op", "sum"}, {"compensated", true}}));
    CHECK_FALSE(may_become_nan({{"op", "max"}}));
    CHECK(may_become_nan({{"op", "linear"}}));
}

TEST_CASE("a value too large for its storage may be infinite", "[judge]") {
    CHECK(verdict_on_one(INFINITY, 1e39).verdict == Verdict::right);
    CHECK(verdict_on_one(-INFINITY, 1e39).verdict == Verdict::wrong);
}

TEST_CASE("an output that rounding moves as far as it is large cannot be judged", "[judge]") {
    const Expected expected{numbers(Dtype::f64, {1, 1, 1}), {1, 1, 1}};
    CHECK(judge(numbers(Dtype::f32, {2, 0, 1}), expected, {}, Storage::f32).verdict == Verdict::cannot_judge);
    CHECK(judge(numbers(Dtype::f32, {200, 0, 1}), expected, {}, Storage::f32).verdict == Verdict::wrong);
}

TEST_CASE("a number whose kind rounding decides is not judged", "[judge]") {
    const Expected expected{numbers(Dtype::f64, {1, 1}), {NAN, 1e-6f}};
    const OutputVerdict verdict = judge(numbers(Dtype::f32, {INFINITY, 1}), expected, {}, Storage::f32);
    CHECK(verdict.verdict == Verdict::cannot_judge);
    CHECK(verdict.judged == 1);
    CHECK(judge(numbers(Dtype::f32, {1, 2}), expected, {}, Storage::f32).verdict == Verdict::wrong);
}

TEST_CASE("flushing small numbers may cost as much as inputs multiply them", "[judge]") {
    const Family& scan = *find_family("scan");
    const Variant& variant = *scan.variant("sequential");
    const Parameters parameters = settled(scan, {{"length", int64_t{4}}, {"channels", int64_t{1}}});
    Arrays inputs = generated_inputs(scan, parameters);
    inputs.front().as<float>()[0] = 1e10f;
    const auto definition = scan.definition({variant, parameters, inputs});
    REQUIRE(definition);
    std::vector<Expected> expected;
    for (const Array& output : *definition) expected.push_back({output});
    REQUIRE_FALSE(add_spread(scan, {variant, parameters, inputs}, {}, 1, expected, few_draws));
    CHECK(expected.front().flushed == Approx(FLT_MIN * 1e10));
}

TEST_CASE("after a state that rounding sends elsewhere nothing of its sequence is judged", "[judge]") {
    const Family& memory = *find_family("memory");
    const Parameters parameters = settled(memory, {{"batch", int64_t{2}},
                                                   {"length", int64_t{1540}},
                                                   {"d", int64_t{2}},
                                                   {"slot_count", int64_t{40}},
                                                   {"chunk", int64_t{48}},
                                                   {"rule", "lattice"},
                                                   {"normalise", false}});
    Arrays inputs = generated_inputs(memory, parameters, false, 1);
    // Small numbers stay near their definition; if they are large, every chunk multiplies its slots.
    const auto values = find(inputs, "v")->as<float>();
    for (float& x : values.first(1540 * 2)) x *= 0.01f;
    for (float& x : values.last(1540 * 2)) x *= 3;
    const DefinitionRequest request{*memory.variant("lattice_gla"), parameters, inputs};
    std::vector<Expected> outputs;
    auto exact = memory.definition(request);
    REQUIRE(exact);
    for (Array& array : *exact) outputs.push_back({std::move(array)});
    REQUIRE_FALSE(add_spread(memory, request, {.arithmetic = 0x1p-24}, 1, outputs, few_draws));
    for (const Expected& output : outputs) {
        if (output.want.name != "y" && output.want.name != "m") continue;
        INFO(output.want.name);
        const auto half = output.spread.begin() + static_cast<std::ptrdiff_t>(output.spread.size() / 2);
        const auto is_unknown = [](float spread) { return std::isnan(spread); };
        CHECK(std::none_of(output.spread.begin(), half, is_unknown));
        const auto lost = std::find_if(half, output.spread.end(), is_unknown);
        CHECK(lost != output.spread.end());
        CHECK((output.want.name == "m" ? lost == half : lost > half));
        CHECK(std::all_of(lost, output.spread.end(), is_unknown));
    }
}

TEST_CASE("the first draws call an output right, a few decide, and many do near a bound", "[judge]") {
    const Family& scan = *find_family("scan");
    const Variant& variant = *scan.variant("sequential");
    const Parameters parameters = settled(scan, {{"length", int64_t{1000}}, {"channels", int64_t{1}}});
    const Arrays inputs = generated_inputs(scan, parameters), no_reference;
    const Configuration setting{&scan, Backend::cpu, parameters, {}, {}, 0, false, {}};
    const Definitions::Source source{setting, Backend::cpu, inputs, no_reference, false, 1};
    Definitions definitions;
    const auto found = definitions.find(source, variant, {});
    REQUIRE(found);
    const std::vector<Expected>& first = **found;
    std::vector<Expected> few = first;
    const Rounding rounding = rounding_of(scan, variant, parameters, Backend::cpu);
    REQUIRE_FALSE(add_spread(scan, {variant, parameters, inputs}, rounding, 1, few, few_draws));
    Arrays outputs = copied(run(scan, "sequential", parameters, inputs).outputs);
    float& number = find(outputs, "y")->as<float>()[500];
    const auto verdict = [&](std::vector<Expected> expected, float factor, float drawn) {
        for (float& spread : expected.front().spread) spread *= drawn;  // as draws by chance might
        const float before = std::exchange(number, number * factor);
        const auto at_once = verdict_on(outputs.front(), variant, source, expected);
        const auto verdicts = verdicts_on(outputs, variant, source, expected, {});
        number = before;
        REQUIRE(verdicts);
        return std::tuple(at_once.verdict, verdicts->front().verdict, expected.front().draws);
    };
    const float right = std::exchange(number, 100 * number);
    const double bound = verdict_on(outputs.front(), variant, source, few).worst->bound;
    number = right;
    const auto off_by = [&](double bounds) { return static_cast<float>(1 + bounds * bound / number); };
    CHECK(verdict(first, 1, 1) == std::tuple(Verdict::right, Verdict::right, first_draws));
    CHECK(verdict(first, 1, 0.01f) == std::tuple(Verdict::pending, Verdict::right, few_draws));
    // The spreads of the first draws are the least: where they hide an output, more draws do not show it.
    double squares = 0, moved = 0;
    for (size_t i = 0; i < first.front().spread.size(); ++i) {
        squares += std::pow(first.front().want.as<double>()[i], 2);
        moved += std::pow(most_spreads * first.front().spread[i], 2);
    }
    const auto hidden_by = [&](double share) {
        return static_cast<float>(std::sqrt(share * squares / moved));
    };
    CHECK(verdict(first, 1, hidden_by(2)) ==
          std::tuple(Verdict::cannot_judge, Verdict::cannot_judge, first_draws));
    CHECK(verdict(first, 1, hidden_by(0.5)) == std::tuple(Verdict::pending, Verdict::right, few_draws));
    CHECK(verdict(first, off_by(0.9), 1) == std::tuple(Verdict::pending, Verdict::right, few_draws));
    CHECK(verdict(first, off_by(3), 1) == std::tuple(Verdict::pending, Verdict::wrong, many_draws));
    CHECK(verdict(first, off_by(30), 1) == std::tuple(Verdict::pending, Verdict::wrong, few_draws));
    CHECK(verdict(few, off_by(0.4), 0.2f) == std::tuple(Verdict::pending, Verdict::right, many_draws));
    CHECK(verdict(few, off_by(3), 1) == std::tuple(Verdict::pending, Verdict::wrong, many_draws));
    CHECK(verdict(few, off_by(30), 1) == std::tuple(Verdict::wrong, Verdict::wrong, few_draws));
    CHECK(verdict(few, NAN, 1) == std::tuple(Verdict::wrong, Verdict::wrong, few_draws));
}

TEST_CASE("bits that change from run to run are wrong", "[judge]") {
    const Array first = numbers(Dtype::f32, {1, 2, 3}), later = numbers(Dtype::f32, {1, 2.5, 3});
    CHECK_FALSE(changed_since(first, first));
    const auto changed = changed_since(first, later);
    REQUIRE(changed);
    CHECK(changed->verdict == Verdict::wrong);
    CHECK(changed->elements == 1);
    CHECK(changed->worst->index == Shape{1});
    CHECK(changed->worst->want == 2);
    // A complex number is two.
    Array complex = Array::zeros("y", Dtype::complex64, {2}),
          other = Array::zeros("y", Dtype::complex64, {2});
    other.as<std::complex<float>>()[1] = {1, 1};
    CHECK(changed_since(complex, other)->elements == 2);
    CHECK(changed_since(complex, other)->judged == 4);
}

// Outputs as of a right kernel: a draw of the definition, with roundings of its own.
Arrays drawn_outputs(const Family& family, const DefinitionRequest& given, const Rounding& rounding,
                     uint64_t seed) {
    DefinitionRequest request = given;
    request.noisy = true;
    const NoiseScope noise(rounding, seed);
    auto drawn = family.definition(request);
    REQUIRE(drawn);
    Arrays outputs;
    for (const Array& array : *drawn) {
        if (array.dtype != Dtype::f64) {
            outputs.push_back(array);
            continue;
        }
        Array output = Array::uninitialised(array.name, Dtype::f32, array.shape);
        std::ranges::transform(array.as<double>(), output.as<float>().begin(),
                               [](double number) { return static_cast<float>(number); });
        outputs.push_back(std::move(output));
    }
    return outputs;
}

TEST_CASE("a kernel whose memory takes another course before any draw does is not called wrong", "[judge]") {
    const Family& memory = *find_family("memory");
    const Variant& variant = *memory.variant("lattice_gla");
    // Returns the verdicts on y of right kernels, whose outputs are multiplied by a factor.
    const auto verdicts = [&](const Settings& settings, float factor) {
        const Parameters parameters = settled(memory, with({{"rule", "trellis"}}, settings));
        const Configuration setting{&memory, Backend::cuda, parameters, {}, {}, 0, false, {}};
        const Arrays inputs = generated_inputs(memory, parameters), no_reference;
        const Definitions::Source source{setting, Backend::cuda, inputs, no_reference, false, 1};
        const Rounding rounding = rounding_of(memory, variant, parameters, Backend::cuda);
        Definitions definitions;
        const auto expected = definitions.find(source, variant, {});
        REQUIRE(expected);
        std::multiset<Verdict> found;
        for (uint64_t seed = 1000; seed < 1012; ++seed) {
            Arrays outputs = drawn_outputs(memory, {variant, parameters, inputs}, rounding, seed);
            for (float& number : find(outputs, "y")->as<float>()) number *= factor;
            const auto judged = verdicts_on({*find(outputs, "y")}, variant, source, **expected, {});
            REQUIRE(judged);
            found.insert(judged->front().verdict);
        }
        return found;
    };
    // One number has the norm 1 whatever its size, so that a state of one row changes its sign at once.
    const Settings rough = {{"d", int64_t{3}},        {"batch", int64_t{13}},  {"length", int64_t{600}},
                            {"compress", int64_t{1}}, {"chunk", int64_t{182}}, {"readout", "boundary"},
                            {"normalise", false},     {"precision", "bf16"}};
    const Settings smooth = {
        {"d", int64_t{16}}, {"length", int64_t{64}}, {"compress", int64_t{8}}, {"precision", "f32"}};
    CHECK(verdicts(rough, 1).count(Verdict::wrong) == 0);
    CHECK(verdicts(smooth, 1).count(Verdict::right) == 12);
    CHECK(verdicts(smooth, 1.01f).count(Verdict::wrong) == 12);
}

TEST_CASE("a kernel may solve shorter tiles than whole chunks", "[judge]") {
    // With keys that are not normalised the rule diverges, so that every rounding grows. A kernel rounds the
    // memory as a factor before each tile.
    const Family& memory = *find_family("memory");
    const Variant& variant = *memory.variant("exact_chunk");
    const auto with_chunk = [&](int64_t chunk) {
        return settled(memory, {{"rule", "delta"},
                                {"batch", int64_t{1}},
                                {"length", int64_t{200}},
                                {"d", int64_t{128}},
                                {"chunk", chunk},
                                {"dtype", "bf16"},
                                {"precision", "bf16"},
                                {"normalise", false}});
    };
    const Parameters parameters = with_chunk(200), in_tiles = with_chunk(64);
    const Configuration setting{&memory, Backend::cuda, parameters, {}, {}, 0, false, {}};
    const Arrays inputs = generated_inputs(memory, parameters, true, 55), no_reference;
    const Definitions::Source source{setting, Backend::cuda, inputs, no_reference, false, 1};
    const Rounding rounding = rounding_of(memory, variant, parameters, Backend::cuda);
    Definitions definitions;
    const auto expected = definitions.find(source, variant, {});
    REQUIRE(expected);
    for (uint64_t seed = 1000; seed < 1004; ++seed) {
        const Arrays outputs = drawn_outputs(memory, {variant, in_tiles, inputs}, rounding, seed);
        const auto judged = verdicts_on({*find(outputs, "y")}, variant, source, **expected, {});
        REQUIRE(judged);
        INFO(wrong_sentence(judged->front()));
        CHECK(judged->front().verdict != Verdict::wrong);
    }
}

}  // namespace
}  // namespace sawtooth

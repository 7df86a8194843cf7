// Forms of input and output of Block Two-Pass: a carry into the first block, gates that the batch shares, and
// another number format of x.

#include <cmath>

#include "app/engine/files/npz.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/runner.h"
#include "tests/kernels/btp/run_btp.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_judge.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace btp_facts;

Settings small(const Value& order, int64_t length, int64_t block, const Settings& more = {}) {
    const Settings settings = {{"B", int64_t{3}},  {"H", int64_t{2}}, {"L", length},     {"BL", block},
                               {"DH", int64_t{5}}, {"order", order},  {"backward", true}};
    return with(settings, more);
}

// Returns the part [first, last) of the last dimension.
Array part_of(const Array& array, int64_t first, int64_t last) {
    Shape shape = array.shape;
    const int64_t length = shape.back();
    shape.back() = last - first;
    Array part = Array::uninitialised(array.name, array.dtype, shape);
    for (int64_t i = 0; i < part.count(); ++i)
        part.as<float>()[static_cast<size_t>(i)] =
            array.as<float>()[static_cast<size_t>(i / (last - first) * length + first + i % (last - first))];
    return part;
}

// Returns x [B, H, DH, L] at one position, as carry0.
Array carry_of(const Array& x, int64_t position) {
    const int64_t length = x.shape.back();
    Array carry = Array::uninitialised("carry0", Dtype::f32, {x.shape[0], x.shape[1], x.shape[2]});
    for (int64_t i = 0; i < carry.count(); ++i)
        carry.as<float>()[static_cast<size_t>(i)] = static_cast<float>(x.value(i * length + position).real());
    return carry;
}

// Returns shared gates [H, L] with a copy for every sequence.
Array repeated(const Array& gates, int64_t batch) {
    Array to = Array::uninitialised("a", Dtype::f32, {batch, gates.shape[0], gates.shape[1]});
    for (int64_t i = 0; i < to.count(); ++i)
        to.as<float>()[static_cast<size_t>(i)] = gates.as<float>()[static_cast<size_t>(i % gates.count())];
    return to;
}

// Two sequences of one channel with the same gates, in blocks of 3. The expected numbers were computed by
// explicit matrices; the gradients are differences of a loss that is linear in every number.
struct Example {
    Value order;
    std::vector<std::pair<const char*, std::vector<float>>> wanted;
};
const std::vector<Example> examples = {
    {two,
     {{"x", {5, 3.25f, -1, 2, 2, -1, 3.921875f, 0, -1, 1, 1, 1.75f, 3.875f, -0.0625f}},
      {"carry", {8, -1, -0.625f, -4, 1, 3.5f}},
      {"da", {1, -5, 10.15625f, 0.8125f, 2.375f, 0.5625f, 4.75f}},
      {"du",
       {0.75f, -1, 3.75f, 1.65625f, 0.875f, 0.75f, -2, 1.25f, 1, 1.5625f, 2.609375f, 0.8125f, -0.375f, 1}},
      {"dcarry0", {0.375f, 0.625f}}}},
    {full,
     {{"x", {5, 3.25f, -1, 2, 2, -1, 3.875f, 0, -1, 1, 1, 1.75f, 3.875f, -0.015625f}},
      {"carry", {8, -1, -1, -4, 1, 3.875f}},
      {"da", {1, -5, 10.2734375f, 0.953125f, 2.5625f, 0.84375f, 5.875f}},
      {"du",
       {0.75f, -1, 3.65625f, 1.65625f, 0.875f, 0.75f, -2, 1.25f, 1, 1.609375f, 2.609375f, 0.8125f, -0.375f,
        1}},
      {"dcarry0", {0.375f, 0.625f}}}}};

void check_examples(Backend backend) {
    for (const Example& example : examples) {
        const Parameters parameters = settled(btp_family(),
                                              {{"B", int64_t{2}},
                                               {"H", int64_t{1}},
                                               {"L", int64_t{7}},
                                               {"BL", int64_t{3}},
                                               {"DH", int64_t{1}},
                                               {"order", example.order},
                                               {"gates", "shared"},
                                               {"construction", "masked_cumprod"},
                                               {"backward", true}},
                                              {}, backend);
        const Arrays inputs = {
            floats("a", {1, 7}, {0.5f, 0.25f, 0, 1, 0.75f, 0.5f, 0.125f}),
            floats("u", {2, 1, 1, 7}, {1, 2, -1, 3, 0.5f, -2, 4, 2, -1, 1, 0, 1, 3, -0.5f}),
            floats("carry0", {2, 1, 1}, {8, -4}),
            floats("dx", {2, 1, 1, 7}, {1, -1, 2, 1, 0.5f, 1, -2, 1, 1, -1, 2, 1, -0.5f, 1})};
        const auto check = [&](const std::string& who, const Arrays& outputs) {
            for (const auto& [name, wanted] : example.wanted) {
                const Array* const output = find(outputs, name);
                if (!output && (who == "sequential" || who == "decode")) continue;
                REQUIRE(output);
                REQUIRE(output->count() == std::ssize(wanted));
                INFO(who << " " << name << ", order " << to_text(example.order));
                for (int64_t i = 0; i < output->count(); ++i)
                    CHECK(output->value(i).real() == wanted[static_cast<size_t>(i)]);
            }
        };
        check("reference", reference_for(parameters, inputs));
        for (const Variant& variant : btp_family().variants)
            check(variant.name, Implementation{btp_family(), variant, backend}.run(parameters, inputs));
    }
}

TEST_CASE("an example in blocks of 3 with a first carry and shared gates is exact", "[btp][cpu]") {
    check_examples(Backend::cpu);
}

TEST_CASE("an example in blocks of 3 with a first carry and shared gates is exact on CUDA",
          "[btp][cuda][gpu]") {
    if (gpu()) check_examples(Backend::cuda);
}

// With gates of 1/2 and inputs of 1, the carry 8 adds 2^(2 - i) to x_i.
TEST_CASE("a first carry reaches the first block, and with order full all blocks", "[btp][cpu]") {
    constexpr int64_t length = 43;
    for (const Value& order : {two, full}) {
        Constant c(order, length, 0.5f);
        const Arrays without = reference_for(c.parameters, c.inputs);
        c.inputs.push_back(floats("carry0", {1, 1, 1}, {8}));
        const Arrays outputs = reference_for(c.parameters, c.inputs);
        INFO("order " << to_text(order));
        for (int64_t t = 0; t < length; ++t) {
            const bool is_reached = order == full || t < 16;
            const double added = is_reached ? std::ldexp(8.0, static_cast<int>(-t - 1)) : 0;
            CHECK(find(outputs, "x")->value(t).real() ==
                  Approx(find(without, "x")->value(t).real() + added).epsilon(1e-14));
        }
        CHECK(find(outputs, "carry")->value(0).real() == 8);
        // Every position that it reaches has the gradient 1.
        const double reached = order == full ? 43 : 16;
        CHECK(find(outputs, "dcarry0")->value(0).real() == 1 - std::exp2(-reached));
        CHECK(find(without, "dcarry0") == nullptr);
    }
}

TEST_CASE("a sequence cut at the border of a block goes on from the carry", "[btp][cpu]") {
    const Value order = GENERATE(two, full);
    const int64_t block = GENERATE(8, 16, 100), cut = 2 * block, length = 5 * block - 3;
    const auto settings = [&](int64_t of_length) {
        return parameters_with(small(order, of_length, block, {{"backward", false}}));
    };
    const Arrays inputs = generated_inputs(settings(length));
    // With order 2 the carry is the local value, which is x of order 1.
    const Arrays local =
        reference_for(parameters_with(small(one, length, block, {{"backward", false}})), inputs);
    const Arrays whole = reference_for(settings(length), inputs);
    Arrays rest;
    for (const Array& input : inputs) rest.push_back(part_of(input, cut, length));
    rest.push_back(carry_of(*find(order == two ? local : whole, "x"), cut - 1));
    for (const std::string& variant : variants) {
        INFO(variant << " order " << to_text(order) << " BL " << block);
        const Ran ran = run(variant, settings(length - cut), rest);
        const Array& x = ran["x"];
        for (int64_t i = 0; i < x.count(); ++i) {
            const int64_t row = i / (length - cut), t = cut + i % (length - cut);
            CHECK(x.value(i).real() ==
                  Approx(find(whole, "x")->value(row * length + t).real()).epsilon(1e-4).margin(1e-4));
        }
    }
}

void check_first_carries(Backend backend) {
    const auto [order, block, dtype] = GENERATE(table<Value, int64_t, const char*>({{two, 16, "f32"},
                                                                                    {two, 64, "bf16"},
                                                                                    {two, 24, "f32"},
                                                                                    {full, 32, "f32"},
                                                                                    {full, 16, "f16"},
                                                                                    {full, 100, "bf16"}}));
    const std::string gates = GENERATE("per_sequence", "shared");
    for (const int64_t length : {int64_t{1}, block, 2 * block + 1, int64_t{1500}}) {
        const Parameters parameters =
            settled(btp_family(),
                    small(order, length, block, {{"dtype", dtype}, {"gates", gates}, {"wpb", int64_t{4}}}),
                    {}, backend);
        for (const bool with_carry : {false, true})
            check_variants(parameters, generated_inputs(parameters, with_carry), backend);
    }
}

TEST_CASE("every variant of btp is right with a first carry and with shared gates", "[btp][cpu]") {
    check_first_carries(Backend::cpu);
}

TEST_CASE("every variant of btp is right with a first carry and with shared gates on CUDA",
          "[btp][cuda][gpu]") {
    if (gpu()) check_first_carries(Backend::cuda);
}

TEST_CASE("shared gates are the same gates for every sequence, and da is summed over them", "[btp]") {
    const Value order = GENERATE(one, two, full);
    const auto shared = parameters_with(small(order, 50, 16, {{"gates", "shared"}}));
    const auto own = parameters_with(small(order, 50, 16));
    const Arrays inputs = generated_inputs(shared, true);
    REQUIRE(find(inputs, "a")->shape == Shape{2, 50});
    Arrays copies = inputs;
    *find(copies, "a") = repeated(*find(inputs, "a"), 3);
    const Arrays outputs = reference_for(shared, inputs), wanted = reference_for(own, copies);
    for (const Array& output : outputs) {
        if (output.name == "da") continue;
        INFO(output.name);
        CHECK(same_bits(output, *find(wanted, output.name)));
    }
    const Array &da = *find(outputs, "da"), &each = *find(wanted, "da");
    REQUIRE(da.shape == Shape{2, 50});
    for (int64_t i = 0; i < da.count(); ++i) {
        double sum = 0;
        for (int64_t sequence = 0; sequence < 3; ++sequence) sum += each.value(sequence * 100 + i).real();
        CHECK(da.value(i).real() == Approx(sum).epsilon(1e-13).margin(1e-13));
    }
}

// With 4.2e6 numbers or more the judge sees only some heads, with all sequences that share their gates.
TEST_CASE("of many heads with shared gates some are judged", "[btp]") {
    const auto parameters = parameters_with({{"B", int64_t{2}},
                                             {"H", int64_t{33}},
                                             {"L", int64_t{5003}},
                                             {"DH", int64_t{16}},
                                             {"gates", "shared"},
                                             {"backward", true}});
    const auto inputs = generated_inputs(parameters);
    const int64_t heads = (1 << 22) / (int64_t{2} * 16 * 5003);
    Arrays outputs = run("fused", parameters, inputs).outputs;
    Definitions definitions;
    const auto verdicts = [&] {
        return judged(btp_family(), "fused", parameters, inputs, outputs, Backend::cpu, &definitions);
    };
    for (const OutputVerdict& verdict : verdicts()) {
        INFO(verdict.output);
        CHECK(verdict.verdict == Verdict::right);
        if (verdict.output == "x") CHECK(verdict.judged == heads * 2 * 16 * 5003);
        if (verdict.output == "da") CHECK(verdict.judged == heads * 5003);
    }
    Array& da = *find(outputs, "da");
    da.as<float>().back() += 1;
    const auto wrong = verdicts();
    const auto of_da = std::ranges::find(wrong, "da", &OutputVerdict::output);
    CHECK(of_da->verdict == Verdict::wrong);
    REQUIRE(of_da->worst);
    CHECK(of_da->worst->index == Shape{32, 5002});
}

bool has_only(const Array& output, Storage storage) {
    Array rounded = copied({output}).front();
    cpu::round_to(storage, rounded.as<float>().data(), rounded.count());
    return same_bits(rounded, output);
}

void check_formats(Backend backend) {
    const auto [dtype, out] = GENERATE(table<const char*, const char*>(
        {{"f32", "bf16"}, {"f32", "f16"}, {"bf16", "f32"}, {"f16", "f32"}, {"f16", "bf16"}}));
    const Value order = GENERATE(one, two, full);
    const int64_t block = GENERATE(16, 24);
    const Parameters parameters =
        settled(btp_family(), small(order, 3 * block + 5, block, {{"dtype", dtype}, {"out_dtype", out}}), {},
                backend);
    const Arrays inputs = generated_inputs(parameters, order != one);
    check_variants(parameters, inputs, backend);
    for (const Variant& variant : btp_family().variants) {
        const Arrays outputs = Implementation{btp_family(), variant, backend}.run(parameters, inputs);
        INFO(variant.name << " " << dtype << " to " << out << ", order " << to_text(order));
        CHECK(has_only(*find(outputs, "x"), storage_named(out)));
        if (storage_named(out) != Storage::bf16) CHECK_FALSE(has_only(*find(outputs, "x"), Storage::bf16));
        if (const Array* const du = find(outputs, "du")) CHECK(has_only(*du, storage_named(dtype)));
    }
}

TEST_CASE("x is stored in its own format, du in that of u", "[btp][cpu]") { check_formats(Backend::cpu); }

TEST_CASE("x is stored in its own format, du in that of u, on CUDA", "[btp][cuda][gpu]") {
    if (gpu()) check_formats(Backend::cuda);
}

// Runs a request with these arrays as its file.
Outcome<std::shared_ptr<const Result>> run_file(const Arrays& arrays, const Settings& settings) {
    static const TemporaryFolder folder;
    static Runner runner(shared_cache());
    Request request;
    request.family = "btp";
    request.repeats = 1;
    request.input = folder.file("in.npz");
    for (const auto& [name, value] : settings) request.parameters.set(name, value);
    REQUIRE_FALSE(write_npz(request.input, arrays));
    return runner.run(request, {});
}

TEST_CASE("gates [H, L] of a file are shared by the batch", "[btp][engine]") {
    const auto parameters = parameters_with(small(two, 40, 16, {{"gates", "shared"}}));
    const Arrays inputs = generated_inputs(parameters, true);
    const auto outcome = run_file(inputs, {});
    REQUIRE(outcome);
    const Result& result = **outcome;
    CHECK(result.parameters.is("gates", "shared"));
    CHECK(result.parameters.integer("B") == 3);
    CHECK(result.parameters.integer("H") == 2);
    for (const char* variant : {"two_pass", "fused"}) {
        CHECK(find(find(result, variant)->outputs, "da")->shape == Shape{2, 40});
        CHECK(find(find(result, variant)->outputs, "dcarry0")->shape == Shape{3, 2, 5});
        for (const OutputError& error : find(result, variant)->errors) {
            INFO(error.output);
            CHECK(*error.rel_l2 < 1e-6);
            CHECK(error.by_position.size() ==
                  (error.output == "carry" || error.output == "dcarry0" ? 0 : 40));
        }
    }
    Arrays gates_only = {*find(inputs, "a")};
    const auto alone = run_file(gates_only, {{"B", int64_t{4}}});
    REQUIRE(alone);
    CHECK(find((*alone)->reference, "x")->shape == Shape{4, 2, 16, 40});
}

TEST_CASE("inputs that do not fit are refused in one line", "[btp][engine]") {
    const auto refusal = [](const Arrays& arrays, const Settings& settings) {
        const auto outcome = run_file(arrays, settings);
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == Error::Kind::usage);
        return outcome.error().text;
    };
    const Array shared = Array::zeros("a", Dtype::f32, {2, 40}),
                u = Array::zeros("u", Dtype::f32, {3, 2, 5, 40});
    CHECK(contains(refusal({shared}, {{"gates", "per_sequence"}}), "gates = per_sequence: "));
    CHECK(contains(refusal({Array::zeros("a", Dtype::f32, {3, 2, 40})}, {{"gates", "shared"}}),
                   "gates = shared: "));
    CHECK(contains(refusal({Array::zeros("a", Dtype::f32, {2, 39}), u}, {}), "array u"));
    CHECK(contains(refusal({Array::zeros("a", Dtype::f32, {40}), u}, {}), "array a = [40]: expected shape"));
    CHECK(contains(refusal({Array::zeros("carry0", Dtype::f32, {3, 2, 5})}, {{"order", 1}}),
                   "order = 1: must be 2 or full with carry0"));
    CHECK(contains(refusal({u}, {{"BL", int64_t{257}}}), "BL = 257"));
}

}  // namespace
}  // namespace sawtooth

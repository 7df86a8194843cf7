// Block Two-Pass on the CPU: every variant against the double-precision reference, and what must hold for
// any.

#include <cmath>

#include "app/engine/files/npz.h"
#include "app/engine/run/runner.h"
#include "kernels/core/common_parameters.h"
#include "kernels/scan/family.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/btp/run_btp.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/run_judge.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace btp_facts;
using btp::Construction;

const std::vector<std::string> with_gradients = {"two_pass", "fused"};
const std::vector<Value> orders = {one, two, full};

Settings sized(const Value& order, int64_t length, int64_t block, int64_t width, const Settings& more = {}) {
    const Settings settings = {{"B", int64_t{2}}, {"H", int64_t{2}}, {"L", length},     {"BL", block},
                               {"DH", width},     {"order", order},  {"backward", true}};
    return with(settings, more);
}

TEST_CASE("btp: the work of a variant without gradients is that of the forward pass", "[btp]") {
    const Parameters both = parameters_with({{"backward", true}}), forward = parameters_with({});
    const auto bytes_of = [&](const char* variant) {
        return work_of(btp_family(), *btp_family().variant(variant), both, {}).bytes;
    };
    CHECK(bytes_of("fused") == btp::work(both, {}).bytes);
    CHECK(bytes_of("decode") == btp::work(forward, {}).bytes);
    CHECK(btp::work(forward, {}).bytes < btp::work(both, {}).bytes);
    const auto notes_with = [](bool backward) {
        const Result result = run_in_engine(btp_family(), {{"L", int64_t{64}}, {"backward", backward}});
        return std::any_of(result.notes.begin(), result.notes.end(), [](const std::string& note) {
            return note.starts_with("sequential, decode: no gradients");
        });
    };
    CHECK(notes_with(true));
    CHECK_FALSE(notes_with(false));
}

// Checks lengths around one block, two and three, and longer ones: two stretches of 512 positions and one
// more position, as an item of fused walks a stretch on the CPU, and with order full more stretches of 128
// than the 32 that a warp of a GPU looks back at.
void check_around_blocks(const Value& order, int64_t block, const char* dtype, Backend backend) {
    std::vector<int64_t> lengths = {1, order == full ? 5000 : 1025};
    for (const int64_t border : {block, 2 * block, 3 * block})
        lengths.insert(lengths.end(), {border - 1, border, border + 1});
    for (const int64_t length : lengths) {
        if (length == 0) continue;  // before the border of a block of 1
        const auto settings = sized(order, length, block, 3, {{"dtype", dtype}, {"wpb", int64_t{4}}});
        const auto parameters = settled(btp_family(), settings, {}, backend);
        check_variants(parameters, generated_inputs(parameters), backend);
    }
}

TEST_CASE("every variant of btp is right in every order, block and length", "[btp][cpu]") {
    check_around_blocks(GENERATE(one, two, full), GENERATE(1, 2, 7, 16, 24, 64, 65, 200, 256), "f32",
                        Backend::cpu);
}

TEST_CASE("every variant of btp is right in blocks of any length on CUDA cores", "[btp][cuda][gpu]") {
    if (!gpu()) return;
    const auto [order, block, dtype] = GENERATE(table<Value, int64_t, const char*>({{one, 24, "f32"},
                                                                                    {two, 1, "f32"},
                                                                                    {two, 7, "bf16"},
                                                                                    {two, 200, "f16"},
                                                                                    {two, 256, "f32"},
                                                                                    {full, 1, "f32"},
                                                                                    {full, 48, "f32"},
                                                                                    {full, 100, "bf16"},
                                                                                    {full, 256, "f32"}}));
    check_around_blocks(order, block, dtype, Backend::cuda);
}

// Checks one size of block, so that a GPU compiles few kernels.
void check_dtypes_around_blocks(Backend backend) {
    const auto [order, dtype] =
        GENERATE(table<Value, const char*>({{one, "f16"}, {two, "bf16"}, {full, "f32"}, {full, "bf16"}}));
    check_around_blocks(order, 32, dtype, backend);
}

TEST_CASE("every variant of btp is right around the borders of blocks", "[btp][cpu]") {
    check_dtypes_around_blocks(Backend::cpu);
}

TEST_CASE("every variant of btp is right around the borders of blocks on CUDA", "[btp][cuda][gpu]") {
    if (gpu()) check_dtypes_around_blocks(Backend::cuda);
}

// Enough heads that a warp goes through several segments: with order two the last warp of a thread block then
// hands its carry on to the first.
TEST_CASE("many heads, of which a warp goes through several segments, are right on CUDA",
          "[btp][cuda][gpu]") {
    if (!gpu()) return;
    const auto [order, block] = GENERATE(table<Value, int64_t>({{one, 16}, {two, 16}, {two, 64}}));
    const Settings settings = {{"B", int64_t{8}},   {"H", int64_t{128}}, {"L", int64_t{3000}},
                               {"DH", int64_t{16}}, {"BL", block},       {"order", order},
                               {"dtype", "bf16"},   {"wpb", int64_t{4}}};
    const auto parameters = settled(btp_family(), settings, {}, Backend::cuda);
    check_variants(parameters, generated_inputs(parameters), Backend::cuda);
}

TEST_CASE("every variant of btp is right in every width and dtype", "[btp][cpu]") {
    const Value order = GENERATE(one, two, full);
    // One channel; a few; the width of tensor cores; more than that, and no multiple of 16.
    const int64_t width = GENERATE(1, 3, 16, 40);
    const std::string dtype = GENERATE("f32", "f16", "bf16");
    const auto parameters = parameters_with(sized(order, 75, 16, width, {{"dtype", dtype}}));
    check_variants(parameters, generated_inputs(parameters));
}

TEST_CASE("gates of 0, 1 and 1e-30 give finite outputs and the right gradients", "[btp][cpu]") {
    const Value order = GENERATE(one, two, full);
    const int64_t block = GENERATE(16, 32, 64);
    const std::string construction = GENERATE("log_stable", "masked_cumprod", "double");
    const auto parameters = parameters_with(
        sized(order, 2 * block + 5, block, 5, {{"construction", construction}, {"gate", 0.7}}));
    Arrays inputs = with_special_gates(generated_inputs(parameters));
    check_variants(parameters, inputs);
    // With all gates alike the product of a block is 0 or 1, or underflows at its second gate.
    for (const float gate : {0.0f, 1.0f, 1e-30f}) {
        fill(*find(inputs, "a"), gate);
        INFO("gates of " << gate);
        check_variants(parameters, inputs);
    }
}

TEST_CASE("every construction is right while gates are close to 1", "[btp][cpu]") {
    const Value order = GENERATE(one, two, full);
    const std::string construction =
        GENERATE("log_stable", "log_difference", "masked_cumprod", "cumprod_ratio", "double");
    const auto parameters =
        parameters_with(sized(order, 150, 64, 5, {{"construction", construction}, {"gate", 0.97}}));
    check_variants(parameters, generated_inputs(parameters));
}

// Returns Lmat_ij of the definition, rounded once.
float entry_of(std::span<const float> gates, int64_t i, int64_t j) {
    if (i < j) return 0;
    double product = 1;
    for (int64_t t = i; t > j; --t) product *= gates[static_cast<size_t>(t)];
    return static_cast<float>(product);
}

// Calls check(i, j, entry) for every entry of the transfer matrix.
template <class Check>
void for_each_entry(Construction construction, std::span<const float> gates, Check&& check) {
    const auto n = std::ssize(gates);
    const std::vector<float> matrix = btp::transfer_matrix(construction, gates);
    REQUIRE(std::ssize(matrix) == n * n);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) check(i, j, matrix[static_cast<size_t>(i * n + j)]);
}

TEST_CASE("every construction gives the transfer matrix of any number of gates", "[btp][cpu]") {
    const auto construction =
        GENERATE(Construction::log_stable, Construction::log_difference, Construction::masked_cumprod,
                 Construction::cumprod_ratio, Construction::exact);
    const int64_t n = GENERATE(1, 2, 15, 16, 17, 32, 33, 63, 64, 65, 256);
    const auto parameters = parameters_with({{"H", int64_t{1}}, {"L", n}, {"gate", 0.9}});
    const Arrays inputs = generated_inputs(parameters);
    const auto gates = find(inputs, "a")->as<float>();
    // Logarithms add up to at most 0.22 each, and prefixes of them to a rounding of n additions; so do
    // products.
    const auto additions = static_cast<double>(std::max<int64_t>(n, 64));
    const double error = construction == Construction::exact ? 0 : additions * additions * 0.22 * 0x1p-24;
    for_each_entry(construction, gates, [&](int64_t i, int64_t j, float entry) {
        INFO("construction " << static_cast<int>(construction) << " n " << n << " entry " << i << ", " << j);
        const float wanted = entry_of(gates, i, j);
        if (i <= j) CHECK(entry == wanted);
        CHECK(std::abs(entry - wanted) <= error * wanted);
    });
}

TEST_CASE("a gate of 0 makes NaN of log_difference and loses entries of cumprod_ratio, no others",
          "[btp][cpu]") {
    constexpr int64_t n = 64, zero = 20;
    std::vector<float> gates(n, 0.5f);
    gates[zero] = 0;
    using enum Construction;
    for (const auto construction : {log_stable, log_difference, masked_cumprod, cumprod_ratio, exact})
        for_each_entry(construction, gates, [&](int64_t i, int64_t j, float entry) {
            INFO("construction " << static_cast<int>(construction) << " entry " << i << ", " << j);
            const bool is_after = i >= j && j >= zero;  // both prefixes contain the 0
            if (construction == log_difference && is_after) {
                CHECK(std::isnan(entry));
            } else if (construction == cumprod_ratio && is_after) {
                CHECK(entry == 0);
            } else {
                // Halves are powers of two: only logarithms round.
                CHECK(std::abs(entry - entry_of(gates, i, j)) <= 1e-5 * entry_of(gates, i, j));
            }
        });
}

TEST_CASE("logarithms of gates below 0 are NaN", "[btp][cpu]") {
    const auto construction = GENERATE(Construction::log_stable, Construction::log_difference);
    const float gate = GENERATE(-0.5f, -INFINITY, NAN);
    constexpr int64_t n = 32, strange = 20;
    std::vector<float> gates(n, 0.5f);
    gates[strange] = gate;
    for_each_entry(construction, gates, [&](int64_t i, int64_t j, float entry) {
        INFO("construction " << static_cast<int>(construction) << " entry " << i << ", " << j);
        if (i >= strange && j < strange) CHECK(std::isnan(entry));
        if (i < strange) CHECK(std::isfinite(entry));
    });
}

TEST_CASE("log_difference shows NaN from a gate of 0 on", "[btp][cpu]") {
    constexpr int64_t length = 60, zero = 20;
    const std::string variant = GENERATE("two_pass", "fused");
    for (const Value& order : orders) {
        Constant c(order, length, 0.5f);
        find(c.inputs, "a")->as<float>()[zero] = 0;
        const int64_t reached = order == one ? 32 : order == two ? 48 : length;
        c.parameters.set("construction", "log_difference");
        const Ran ran = run(variant, c.parameters, c.inputs);
        for (int64_t t = 0; t < length; ++t) {
            INFO(variant << " order " << to_text(order) << " position " << t);
            CHECK(std::isnan(ran["x"].value(t).real()) == (t >= zero && t < reached));
        }
    }
}

// Returns u, x or a gradient of them, [heads, channels, length], as [heads, length, channels], the layout of
// scan.
Array turned(const Array& array, std::string name) {
    const int64_t heads = array.shape[0] * array.shape[1], channels = array.shape[2], length = array.shape[3];
    Array to = Array::uninitialised(std::move(name), Dtype::f32, {heads, length, channels});
    for (int64_t i = 0; i < array.count(); ++i) {
        const int64_t t = i % length, channel = i / length % channels, head = i / length / channels;
        to.as<float>()[static_cast<size_t>((head * length + t) * channels + channel)] =
            array.as<float>()[static_cast<size_t>(i)];
    }
    return to;
}

// Returns gates [heads, length] with a copy for every channel.
Array spread(const Array& gates, int64_t channels) {
    const int64_t length = gates.shape[2];
    Array to = Array::uninitialised("a", Dtype::f32, {gates.count() / length, length, channels});
    for (int64_t i = 0; i < to.count(); ++i)
        to.as<float>()[static_cast<size_t>(i)] = gates.as<float>()[static_cast<size_t>(i / channels)];
    return to;
}

TEST_CASE("order full is the linear scan of the family scan", "[btp][scan][cpu]") {
    const int64_t block = GENERATE(16, 32, 64), channels = 5, length = GENERATE(1, 40, 1100);
    const auto parameters = parameters_with(sized(full, length, block, channels));
    const Arrays inputs = with_special_gates(generated_inputs(parameters));
    const auto scan_parameters = settled(scan_family(), {{"batch", int64_t{4}},
                                                         {"length", length},
                                                         {"channels", channels},
                                                         {"op", "linear"},
                                                         {"backward", true}});
    const Arrays scan_inputs = {turned(*find(inputs, "u"), "x"), spread(*find(inputs, "a"), channels),
                                turned(*find(inputs, "dx"), "dy")};
    const Ran wanted = run("sequential", scan_parameters, scan_inputs);
    // About ten times the distances seen, which are roundings of f32 in another order.
    constexpr double few_roundings = 2e-6;
    for (const std::string& variant : variants) {
        const Ran ran = run(variant, parameters, inputs);
        INFO(variant << " BL " << block << " L " << length);
        CHECK(distance(turned(ran["x"], "y"), wanted["y"]) < few_roundings);
        if (!find(ran.outputs, "da")) continue;
        CHECK(distance(turned(ran["du"], "dx"), wanted["dx"]) < few_roundings);
        Array da = Array::zeros("da", Dtype::f64, ran["da"].shape);
        for (int64_t i = 0; i < wanted["da"].count(); ++i)
            da.as<double>()[static_cast<size_t>(i / channels)] += wanted["da"].value(i).real();
        CHECK(distance(ran["da"], da) < few_roundings);
    }
}

// Returns the range from the first to the last position whose values differ in any row.
Range changed_positions(const Array& before, const Array& after) {
    const int64_t length = before.shape.back();
    Range changed = {length, 0};
    for (int64_t i = 0; i < before.count(); ++i) {
        if (before.value(i) == after.value(i)) continue;
        changed.first = std::min(changed.first, i % length);
        changed.last = std::max(changed.last, i % length + 1);
    }
    return changed;
}

TEST_CASE("order 1 forgets at the border of a block, order 2 at the next one", "[btp][cpu]") {
    constexpr int64_t length = 150;
    const int64_t block = GENERATE(16, 32);
    const int64_t first = 2 * block, last = 3 * block;  // the third block
    for (const Value& order : orders) {
        const auto parameters = parameters_with(sized(order, length, block, 3, {{"gate", 0.98}}));
        const Arrays inputs = generated_inputs(parameters);
        Arrays other_u = copied(inputs), other_dx = copied(inputs);
        for (int64_t row = 0; row < 12; ++row) {
            find(other_u, "u")->as<float>()[static_cast<size_t>(row * length + first)] += 1;
            find(other_dx, "dx")->as<float>()[static_cast<size_t>(row * length + last - 1)] += 1;
        }
        for (const std::string& variant : variants) {
            INFO(variant << " order " << to_text(order) << " BL " << block);
            const Arrays before = copied(run(variant, parameters, inputs).outputs);
            const Range x = changed_positions(*find(before, "x"), run(variant, parameters, other_u)["x"]);
            CHECK(x.first == first);
            CHECK(x.last == (order == one ? last : order == two ? last + block : length));
            if (!find(before, "du")) continue;
            const Ran after = run(variant, parameters, other_dx);
            const Range du = changed_positions(*find(before, "du"), after["du"]);
            CHECK(du.first == (order == one ? first : order == two ? first - block : 0));
            CHECK(du.last == last);
            // What would pass the first of these gates comes from a block that no gradient reaches.
            const Range da = changed_positions(*find(before, "da"), after["da"]);
            CHECK(da.first == du.first + 1);
            CHECK(da.last == last);
        }
    }
}

TEST_CASE("decode has the bits of sequential", "[btp][cpu]") {
    const int64_t block = GENERATE(16, 32, 64);
    const std::string dtype = GENERATE("f32", "f16", "bf16");
    for (const Value& order : orders)
        for (const int64_t length : {int64_t{1}, block - 1, block, 3 * block + 7}) {
            const auto parameters =
                parameters_with(sized(order, length, block, 3, {{"dtype", dtype}, {"backward", false}}));
            const Arrays inputs = with_special_gates(generated_inputs(parameters));
            INFO("order " << to_text(order) << " L " << length << " BL " << block << " " << dtype);
            const Arrays steps = copied(run("sequential", parameters, inputs).outputs);
            CHECK(same_bits(run("decode", parameters, inputs).outputs, steps));
        }
}

TEST_CASE("any number of threads gives the same bits of btp", "[btp][cpu][threads]") {
    for (const Value& order : orders)
        for (const std::string& variant : variants) {
            // Stretches of 512 positions, which look back over several others with order full.
            const int64_t length = variant == "sequential" ? 100 : 5000;
            const auto parameters = parameters_with(sized(order, length, 16, 3));
            const Arrays inputs = with_special_gates(generated_inputs(parameters));
            check_any_threads(variant, parameters, inputs);
        }
}

TEST_CASE("every run writes every number of every output", "[btp][cpu]") {
    const int64_t block = GENERATE(16, 32, 64);
    for (const Value& order : orders)
        for (const int64_t length : {int64_t{1}, block - 1, block, block + 1, 3 * block - 1, 3 * block,
                                     3 * block + 1, int64_t{511}, int64_t{512}, int64_t{513}})
            for (const std::string& variant : variants) {
                const auto parameters = parameters_with(sized(order, length, block, 3));
                const Arrays inputs = generated_inputs(parameters);
                INFO(variant << " order " << to_text(order) << " L " << length << " BL " << block);
                const Arrays outputs = check_writes_all(variant, parameters, inputs);
                CHECK(find(outputs, "carry")->shape == Shape{2, 2, ceil_divide(length, block), int64_t{3}});
            }
}

TEST_CASE("heads of btp in another order give the outputs in that order", "[btp][cpu]") {
    for (const Value& order : orders)
        for (const std::string& variant : variants) {
            const auto parameters = parameters_with(sized(order, 90, 16, 5, {{"H", int64_t{3}}}));
            const Arrays inputs = generated_inputs(parameters);
            INFO(variant << " order " << to_text(order));
            const Arrays outputs = copied(run(variant, parameters, inputs).outputs);
            CHECK(
                same_bits(run(variant, parameters, reversed_heads(inputs)).outputs, reversed_heads(outputs)));
            CHECK_FALSE(same_bits(outputs, reversed_heads(outputs)));
        }
}

TEST_CASE("a token, two passes or one is a launch of btp", "[btp][cpu]") {
    using Names = std::vector<std::string>;
    for (const Value& order : orders) {
        const auto parameters = parameters_with(sized(order, 40, 16, 3));
        const Arrays inputs = generated_inputs(parameters);
        const auto launches = [&](const char* variant) { return names_of(run(variant, parameters, inputs)); };
        INFO("order " << to_text(order));
        CHECK(launches("sequential") == Names(40, "token"));
        CHECK(launches("decode") == Names{"decode"});
        CHECK(launches("fused") == Names{"fused", "gradients"});
        CHECK(launches("two_pass") == (order == one ? Names{"first_pass", "second_gradient_pass"}
                                                    : Names{"first_pass", "second_pass",
                                                            "first_gradient_pass", "second_gradient_pass"}));
    }
}

TEST_CASE("a file with the gradient of x turns the backward pass of btp on", "[btp][engine]") {
    const TemporaryFolder folder;
    Runner runner(shared_cache());
    Arrays arrays = generated_inputs(parameters_with(sized(two, 40, 16, 3)));
    const bool has_gradient = GENERATE(true, false);
    if (!has_gradient) arrays.pop_back();
    Request request;
    request.family = "btp";
    request.repeats = 1;
    request.input = folder.file("in.npz");
    REQUIRE_FALSE(write_npz(request.input, arrays));
    const auto outcome = runner.run(request, {});
    REQUIRE(outcome);
    const Result& result = **outcome;
    CHECK(result.parameters.integer("L") == 40);
    CHECK(result.parameters.integer("DH") == 3);
    CHECK(result.parameters.flag("backward") == has_gradient);
    CHECK(result.reference.size() == (has_gradient ? 4 : 2));
    for (const std::string& variant : with_gradients)
        CHECK(find(result, variant)->outputs.size() == (has_gradient ? 4 : 2));
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors) CHECK(*error.rel_l2 < 1e-6);
}

}  // namespace
}  // namespace sawtooth

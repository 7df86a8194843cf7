// Attention: every variant against the double-precision reference, and what must hold for any.

#include <cmath>
#include <numbers>

#include "tests/kernels/attention/run_attention.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace attention_facts;
using attention::kind_of;
using attention::Mask;
using attention::TileKind;

Settings sized(int64_t heads, int64_t length, int64_t d, int64_t window, const Settings& more = {}) {
    return with({{"H", heads}, {"N", length}, {"D", d}, {"window", window}, {"backward", true}}, more);
}

// Positions first … last - 1 of one head, as a family of one head.
Array part_of(const Array& array, std::string name, int64_t first, int64_t last) {
    const int64_t d = array.shape[3];
    Array part = Array::uninitialised(std::move(name), array.dtype, {1, 1, last - first, d});
    std::copy_n(array.as<float>().begin() + first * d, (last - first) * d, part.as<float>().begin());
    return part;
}

TEST_CASE("every variant is right in every form, mask and length", "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const std::string form = GENERATE("four", "qkv");
    // One pair; lengths around a strip of 16 and a tile of 64; two tiles and a short one.
    const int64_t length = GENERATE(1, 2, 15, 16, 17, 63, 64, 65, 150);
    // Windows of only the diagonal, inside a tile, of a tile, and beyond every sequence.
    const int64_t window = GENERATE(1, 2, 40, 64, 1000);
    const auto parameters =
        parameters_with(sized(2, length, 16, window, {{"causal", causal}, {"form", form}}));
    check_variants(parameters, generated_inputs(parameters));
}

// Lengths of one, two and three tiles of queries, of half as many keys, and of 16 tiles of keys, beyond which
// kernels for Hopper have a loop more; each with a position less and a position more. Only the length varies,
// so that a GPU compiles few kernels.
void check_around_tiles(Backend backend) {
    const auto [causal, dtype] =
        GENERATE(table<bool, const char*>({{true, "bf16"}, {false, "f16"}, {true, "f32"}}));
    for (const int64_t border : {32, 64, 96, 128, 192, 512})
        for (const int64_t length : {border - 1, border, border + 1}) {
            const auto settings = sized(2, length, 16, 70,
                                        {{"Z", int64_t{2}},
                                         {"causal", causal},
                                         {"dtype", dtype},
                                         {"BLOCK_M", int64_t{64}},
                                         {"BLOCK_N", int64_t{32}}});
            const auto parameters = settled(attention_family(), settings, {}, backend);
            check_variants(parameters, generated_inputs(parameters), backend);
        }
}

TEST_CASE("every variant of attention is right around the borders of tiles", "[attention][cpu]") {
    check_around_tiles(Backend::cpu);
}

TEST_CASE("every variant of attention is right around the borders of tiles on CUDA",
          "[attention][cuda][gpu]") {
    if (gpu()) check_around_tiles(Backend::cuda);
}

// Beside the last key lie queries that fill its tile: their scores with it are 0 times infinity.
void check_infinite_last_key(Backend backend) {
    const auto [array, value, length, window, form] =
        GENERATE(table<const char*, float, int64_t, int64_t, const char*>({{"k1", INFINITY, 8, 3, "four"},
                                                                           {"k2", -INFINITY, 70, 1, "four"},
                                                                           {"k", NAN, 2, 1, "qkv"},
                                                                           {"v", INFINITY, 33, 5, "qkv"}}));
    const auto [causal, scale] = GENERATE(table<bool, double>({{true, 0.25}, {true, 0.0}, {false, 0.0}}));
    const auto settings = sized(2, length, 16, window,
                                {{"form", form}, {"dtype", "f16"}, {"causal", causal}, {"scale", scale}});
    const auto parameters = settled(attention_family(), settings, {}, backend);
    Arrays inputs = generated_inputs(parameters);
    find(inputs, array)->as<float>()[static_cast<size_t>((length - 1) * 16 + 3)] = value;
    check_variants(parameters, inputs, backend);
}

TEST_CASE("a last key that is not finite shows only where queries see it", "[attention][cpu]") {
    check_infinite_last_key(Backend::cpu);
}

TEST_CASE("a last key that is not finite shows only where queries see it on CUDA", "[attention][cuda][gpu]") {
    if (gpu()) check_infinite_last_key(Backend::cuda);
}

void check_low_score(Backend backend) {
    const auto parameters = settled(attention_family(), sized(2, 1, 16, 1, {{"dtype", "bf16"}}), {}, backend);
    Arrays inputs = generated_inputs(parameters);
    std::ranges::fill(find(inputs, "q")->as<float>(), 0x1p60f);
    std::ranges::fill(find(inputs, "k")->as<float>(), -0x1p60f);
    check_variants(parameters, inputs, backend);
}

TEST_CASE("a query with one key takes its value, however low the score is", "[attention][cpu]") {
    check_low_score(Backend::cpu);
}

TEST_CASE("a query with one key takes its value, however low the score is, on CUDA",
          "[attention][cuda][gpu]") {
    if (gpu()) check_low_score(Backend::cuda);
}

TEST_CASE("a query without a finite score has neither an output nor a sum", "[attention][cpu]") {
    const auto parameters =
        parameters_with(sized(1, 20, 16, 5, {{"form", "four"}, {"dtype", "f32"}, {"causal", true}}));
    Arrays inputs = generated_inputs(parameters);
    find(inputs, "q1")->as<float>()[3] = 1;
    find(inputs, "k1")->as<float>()[3] = -INFINITY;
    for (const char* const variant : {"naive", "streaming"}) {
        INFO(variant);
        const Arrays outputs = run(variant, parameters, inputs).outputs;
        CHECK(std::isnan(find(outputs, "o")->as<float>()[0]));
        CHECK(std::isnan(find(outputs, "lse")->as<float>()[0]));
    }
}

TEST_CASE("every variant is right in every width of a head", "[attention][cpu]") {
    const int64_t d = GENERATE(16, 32, 64, 128);
    const std::string dtype = GENERATE("f32", "f16", "bf16");
    const auto parameters = parameters_with(sized(1, 100, d, 30, {{"dtype", dtype}, {"Z", int64_t{2}}}));
    check_variants(parameters, generated_inputs(parameters));
}

TEST_CASE("every BLOCK_M and BLOCK_N gives the same outputs", "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    // With 300 positions the last tile of every size is short.
    const Settings base = sized(1, 300, 16, 70, {{"causal", causal}});
    const Arrays inputs = generated_inputs(parameters_with(base));
    Definitions definitions;
    for (const int64_t block_m : {16, 32, 64, 128, 256})
        for (const int64_t block_n : {16, 32, 64, 128, 256}) {
            const Settings settings = with(base, {{"BLOCK_M", block_m}, {"BLOCK_N", block_n}});
            for (const std::string& variant : variants) {
                INFO(variant << " " << block_m << " " << block_n);
                const Ran ran = run(variant, parameters_with(settings), inputs);
                CHECK(check_verdicts(judged(attention_family(), variant, parameters_with(base), inputs,
                                            ran.outputs, Backend::cpu, &definitions)) > 0);
            }
        }
}

TEST_CASE("scores of several hundred do not overflow", "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const std::string dtype = GENERATE("f32", "f16");
    const auto parameters =
        parameters_with(sized(1, 130, 64, 40, {{"causal", causal}, {"scale", 20.0}, {"dtype", dtype}}));
    const Arrays inputs = generated_inputs(parameters);
    const Arrays reference = reference_for(parameters, inputs);
    const auto lse = find(reference, "lse")->as<double>();
    CHECK(*std::max_element(lse.begin(), lse.end()) > 400 * std::numbers::log2e);
    check_variants(parameters, inputs);
}

// The largest score of a row changes from tile to tile, by far more than a sum of probabilities may grow
// before it is rescaled.
TEST_CASE("scores that grow or shrink along the keys are right on CUDA", "[attention][cuda][gpu]") {
    if (!gpu()) return;
    const auto [d, block_m] = GENERATE(table<int64_t, int64_t>({{64, 128}, {64, 256}, {128, 128}}));
    const auto [dtype, grows] = GENERATE(table<const char*, bool>({{"f16", true}, {"bf16", false}}));
    const auto parameters = settled(attention_family(),
                                    sized(2, 700, d, 200,
                                          {{"form", "four"},
                                           {"dtype", dtype},
                                           {"BLOCK_M", block_m},
                                           {"BLOCK_N", int64_t{128}},
                                           {"warps", int64_t{8}},
                                           {"backward", false}}),
                                    {}, Backend::cuda);
    Arrays inputs = generated_inputs(parameters);
    for (const char* name : {"k1", "k2"}) {
        const auto keys = find(inputs, name)->as<float>();
        for (size_t i = 0; i < keys.size(); ++i) {
            const auto doublings = static_cast<int>(i / static_cast<size_t>(d) % 700 / 175);
            keys[i] = std::ldexp(keys[i], grows ? doublings : 3 - doublings);  // without rounding
        }
    }
    check_variants(parameters, inputs, Backend::cuda);
}

struct Plain {
    std::vector<double> o, lse;
};
// Computes plain attention of q on k, with the keys of each query for which counts(query, key) is true.
template <class Counts>
Plain plain_attention(const Array& q, const Array& k, const Array& v, double scale, Counts&& counts) {
    const int64_t length = q.shape[2], d = q.shape[3];
    Plain plain{std::vector<double>(static_cast<size_t>(length * d)), {}};
    for (int64_t i = 0; i < length; ++i) {
        double sum = 0;
        std::vector<double> o(static_cast<size_t>(d));
        for (int64_t j = 0; j < length; ++j) {
            if (!counts(i, j)) continue;
            double score = 0;
            for (int64_t m = 0; m < d; ++m)
                score += scale * q.value(i * d + m).real() * k.value(j * d + m).real();
            sum += std::exp(score);
            for (int64_t m = 0; m < d; ++m)
                o[static_cast<size_t>(m)] += std::exp(score) * v.value(j * d + m).real();
        }
        for (int64_t m = 0; m < d; ++m)
            plain.o[static_cast<size_t>(i * d + m)] = o[static_cast<size_t>(m)] / sum;
        plain.lse.push_back(std::log2(sum));
    }
    return plain;
}

double distance(const Array& got, const std::vector<double>& wanted) {
    Array array = Array::uninitialised(got.name, Dtype::f64, got.shape);
    REQUIRE(array.as<double>().size() == wanted.size());
    std::copy(wanted.begin(), wanted.end(), array.as<double>().begin());
    return sawtooth::distance(got, array);
}

// About ten times the distances seen, which are roundings of f32 in sums of a few hundred terms.
constexpr double few_roundings = 3e-6;

TEST_CASE("a window of the whole sequence is plain attention on q1 and k1", "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const int64_t window = GENERATE(100, 101, 1 << 20);
    const auto parameters =
        parameters_with(sized(1, 100, 16, window, {{"causal", causal}, {"form", "four"}}));
    Arrays inputs = generated_inputs(parameters);
    for (const char* unused : {"q2", "k2"}) fill(*find(inputs, unused), NAN);
    const Plain plain =
        plain_attention(*find(inputs, "q1"), *find(inputs, "k1"), *find(inputs, "v"),
                        parameters.real("scale"), [&](int64_t i, int64_t j) { return !causal || j <= i; });
    const auto check = [&](const Arrays& outputs) {
        CHECK(distance(*find(outputs, "o"), plain.o) < few_roundings);
        CHECK(distance(*find(outputs, "lse"), plain.lse) < few_roundings);
        for (const char* name : {"dq2", "dk2"})
            for (int64_t i = 0; i < find(outputs, name)->count(); ++i)
                REQUIRE(find(outputs, name)->value(i).real() == 0);
    };
    check(reference_for(parameters, inputs));
    for (const std::string& variant : variants) {
        INFO(variant);
        check(run(variant, parameters, inputs).outputs);
    }
}

// Every output is a sum of a row of probabilities, which is 1.
TEST_CASE("values of one give outputs of one, and gradients of values add up to that of o",
          "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const int64_t length = GENERATE(1, 77, 300);
    const auto parameters = parameters_with(sized(1, length, 16, 20, {{"causal", causal}}));
    Arrays inputs = generated_inputs(parameters);
    fill(*find(inputs, "v"), 1);
    const Array& dout = *find(inputs, "do");
    // Each of `length` additions rounds to 24 bits.
    const double bound = static_cast<double>(length) * 0x1p-23;
    for (const std::string& variant : variants) {
        const Ran ran = run(variant, parameters, inputs);
        INFO(variant << " N " << length);
        for (const float o : ran["o"].as<float>()) REQUIRE(std::abs(o - 1) <= bound);
        for (int64_t m = 0; m < 16; ++m) {
            double wanted = 0, size = 0, sum = 0;
            for (int64_t i = 0; i < length; ++i) {
                wanted += dout.value(16 * i + m).real();
                size += std::abs(dout.value(16 * i + m).real());
                sum += ran["dv"].value(16 * i + m).real();
            }
            CHECK(std::abs(sum - wanted) <= bound * size);
        }
    }
}

TEST_CASE("a query with one key gives its value, and gradients of scores that are exactly 0",
          "[attention][cpu]") {
    const std::string form = GENERATE("four", "qkv");
    const auto parameters = parameters_with(sized(3, 1, 32, 1, {{"form", form}}));
    const Arrays inputs = generated_inputs(parameters);
    for (const std::string& variant : variants) {
        const Ran ran = run(variant, parameters, inputs);
        INFO(variant << " " << form);
        CHECK(sawtooth::distance(ran["o"], *find(inputs, "v")) < 0x1p-23);
        CHECK(sawtooth::distance(ran["dv"], *find(inputs, "do")) < 0x1p-23);
        for (const char* name : {"dq1", "dq2", "dk1", "dk2"})
            for (const float value : ran[name].as<float>()) REQUIRE(value == 0);
    }
}

TEST_CASE("heads in another order give the outputs in that order", "[attention][cpu]") {
    const auto parameters = parameters_with(sized(3, 90, 16, 30, {{"Z", int64_t{2}}}));
    const Arrays inputs = generated_inputs(parameters);
    for (const std::string& variant : variants) {
        INFO(variant);
        const Arrays outputs = run(variant, parameters, inputs).outputs;
        CHECK(same_bits(run(variant, parameters, reversed_heads(inputs)).outputs, reversed_heads(outputs)));
        CHECK_FALSE(same_bits(outputs, reversed_heads(outputs)));
    }
}

TEST_CASE("gradients of a key do not depend on earlier queries", "[attention][cpu]") {
    const int64_t first = GENERATE(50, 64, 100);  // far pairs before it, too
    const auto parameters = parameters_with(sized(1, 150, 16, 40, {{"form", "four"}}));
    const Arrays inputs = generated_inputs(parameters);
    Arrays changed = copied(inputs);
    for (const char* name : {"q1", "q2", "do"})
        for (int64_t i = 0; i < first * 16; ++i) find(changed, name)->as<float>()[static_cast<size_t>(i)] = 3;
    for (const std::string& variant : variants) {
        const Ran before = run(variant, parameters, inputs);
        const Arrays kept = copied(before.outputs);
        const Ran after = run(variant, parameters, changed);
        INFO(variant << " from " << first);
        for (const char* name : {"dk1", "dk2", "dv"}) {
            CHECK(
                same_bits(part_of(after[name], "", first, 150), part_of(*find(kept, name), "", first, 150)));
            CHECK_FALSE(same_bits(after[name], *find(kept, name)));
        }
    }
}

// Queries from `window` on see their far keys as plain causal attention of q2 on k2.
TEST_CASE("the far part is plain causal attention of shifted queries", "[attention][cpu]") {
    constexpr int64_t length = 200, window = 48, d = 16, far = length - window;
    const auto parameters =
        parameters_with(sized(1, length, d, window, {{"form", "four"}, {"backward", false}}));
    const Arrays inputs = generated_inputs(parameters);
    const auto plain = parameters_with(sized(1, far, d, length, {{"form", "four"}, {"backward", false}}));
    const Array q2 = part_of(*find(inputs, "q2"), "q1", window, length);
    const Array k2 = part_of(*find(inputs, "k2"), "k1", 0, far);
    Arrays shifted = {q2, q2, k2, k2, part_of(*find(inputs, "v"), "v", 0, far)};
    shifted[1].name = "q2";
    shifted[3].name = "k2";
    const Plain near = plain_attention(*find(inputs, "q1"), *find(inputs, "k1"), *find(inputs, "v"),
                                       parameters.real("scale"),
                                       [](int64_t i, int64_t j) { return j <= i && i - j < window; });
    for (const std::string& variant : variants) {
        const Ran whole = run(variant, parameters, inputs), part = run(variant, plain, shifted);
        Plain merged = near;
        for (int64_t i = window; i < length; ++i) {
            const double far_lse = part["lse"].value(i - window).real();
            double& lse = merged.lse[static_cast<size_t>(i)];
            const double share = 1 / (1 + std::exp2(lse - far_lse));
            lse = std::log2(std::exp2(lse) + std::exp2(far_lse));
            for (int64_t m = 0; m < d; ++m) {
                double& o = merged.o[static_cast<size_t>(i * d + m)];
                o += share * (part["o"].value((i - window) * d + m).real() - o);
            }
        }
        INFO(variant);
        CHECK(distance(whole["o"], merged.o) < few_roundings);
        CHECK(distance(whole["lse"], merged.lse) < few_roundings);
    }
}

TEST_CASE("tiles are classified by their allowed pairs", "[attention]") {
    const bool causal = GENERATE(true, false);
    std::map<TileKind, int> met;
    for (const int64_t window : {1, 7, 16, 17, 33, 100})
        for (const int64_t length : {1, 50, 64})
            for (const int64_t block_m : {16, 32})
                for (const int64_t block_n : {8, 16, 64})
                    for (int64_t m = 0; m * block_m < length; ++m)
                        for (int64_t n = 0; n * block_n < length; ++n) {
                            const Mask mask{window, causal};
                            const Range queries = tile_at(m, block_m, length),
                                        keys = tile_at(n, block_n, length);
                            INFO("window " << window << " queries " << queries.first << " to " << queries.last
                                           << " keys " << keys.first << " to " << keys.last);
                            REQUIRE(kind_of(mask, queries, keys) == kind_by_pairs(mask, queries, keys));
                            ++met[kind_of(mask, queries, keys)];
                        }
    CHECK(met.size() == (causal ? 4 : 3));
}

const LaunchRecord& launch_of(const Ran& ran, const std::string& name) {
    return *std::find_if(ran.launches.begin(), ran.launches.end(),
                         [&](const LaunchRecord& launch) { return launch.info->name == name; });
}

// The launches, and the rows of scores that are multiplied, tell the algorithms apart.
TEST_CASE("naive has a pass for every step, streaming skips tiles and encodings", "[attention][cpu]") {
    using Names = std::vector<std::string>;
    constexpr int64_t heads = 2, length = 200, window = 70;
    const bool causal = GENERATE(true, false);
    const auto parameters = parameters_with(sized(heads, length, 16, window, {{"causal", causal}}));
    const Arrays inputs = generated_inputs(parameters);
    const Ran naive = run("naive", parameters, inputs), streaming = run("streaming", parameters, inputs);
    CHECK(names_of(naive) == Names{"prologue", "scores", "softmax", "values", "preprocess", "score_gradients",
                                   "gradients_of_queries", "gradients_of_keys", "rotate_back"});
    for (const char* name : {"scores", "softmax", "values", "score_gradients", "gradients_of_keys"})
        CHECK(launch_of(naive, name).tally.combines == heads * length);
    CHECK(names_of(streaming) ==
          Names{"prologue", "forward", "preprocess", "backward", "sum_groups", "rotate_back"});
    int64_t rows = 0, all_rows = 0;
    for (int64_t m = 0; m < 4; ++m)
        for (int64_t n = 0; n < 4; ++n) {
            const Range queries = tile_at(m, 64, length);
            const TileKind kind = kind_by_pairs({window, causal}, queries, tile_at(n, 64, length));
            rows += heads * queries.count() *
                    (kind == TileKind::skipped ? 0
                     : kind == TileKind::mixed ? 2
                                               : 1);
            all_rows += heads * queries.count() * 2;
        }
    CHECK(launch_of(streaming, "forward").tally.combines == rows);
    CHECK(launch_of(streaming, "backward").tally.combines == rows);
    CHECK(rows < all_rows);
}

// On CUDA inputs, rotated queries and keys, and o are in the dtype; everything else is f32.
TEST_CASE("launches of attention describe as many bytes as they store", "[attention][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    constexpr int64_t heads = 3, length = 100, d = 32;
    const std::string dtype = GENERATE("f32", "bf16");
    const double element = dtype == "f32" ? 4 : 2, numbers = heads * length * d, rows = heads * length;
    const auto parameters = parameters_with(sized(heads, length, d, 40, {{"dtype", dtype}}));
    for (const char* variant : {"naive", "streaming", "streaming_wgmma"}) {
        if (dtype == "f32" && std::string(variant) != "naive") continue;
        const Plan plan = plan_in_theory(*device, variant, parameters, true);
        std::map<std::string, double> bytes;
        for (const Launch& launch : plan.launches)
            bytes[launch.info->name] = bytes_of(launch.info->reads) + bytes_of(launch.info->writes);
        INFO(variant << " " << dtype);
        CHECK(bytes["prologue"] == 5 * numbers * element);
        CHECK(bytes["preprocess"] == 2 * numbers * element + 4 * rows);
        CHECK(bytes["rotate_back"] == 6 * numbers * 4);
        if (std::string(variant) == "naive") {
            const double matrix = heads * length * length * 4.0;
            CHECK(bytes["scores"] == 4 * numbers * element + matrix);
            CHECK(bytes["values"] == 2 * numbers * element + matrix);
            CHECK(bytes["gradients_of_keys"] == 3 * numbers * element + 2 * matrix + 3 * numbers * 4);
        } else {
            CHECK(bytes["forward"] == 6 * numbers * element + 4 * rows);
            CHECK(bytes["backward"] == 6 * numbers * element + 5 * numbers * 4 + 2 * rows * 4);
        }
    }
}

// exp of -87.2 is a normal number of f32.
TEST_CASE("probabilities count down to the smallest normal number", "[attention][cpu]") {
    const auto parameters = parameters_with({{"H", int64_t{1}},
                                             {"N", int64_t{2}},
                                             {"D", int64_t{16}},
                                             {"form", "four"},
                                             {"causal", false},
                                             {"scale", 1.0}});
    Arrays inputs = generated_inputs(parameters);
    for (Array& array : inputs) fill(array, 0);
    for (const size_t query : {0, 16}) find(inputs, "q1")->as<float>()[query] = 1;
    find(inputs, "k1")->as<float>()[16] = -87.2f;
    find(inputs, "v")->as<float>()[16] = 1e30f;
    const Arrays reference = reference_for(parameters, inputs);
    CHECK(find(reference, "o")->value(0).real() == Approx(1e30 * std::exp(-87.2)).epsilon(1e-4));
    for (const std::string& variant : variants) {
        INFO(variant);
        CHECK(run(variant, parameters, inputs)["o"].value(0).real() ==
              Approx(find(reference, "o")->value(0).real()).epsilon(1e-4));
    }
}

}  // namespace
}  // namespace sawtooth

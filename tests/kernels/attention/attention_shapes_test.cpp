// Attention with heads that share keys, fewer queries than keys, any even width, and any base of the
// rotation.

#include <cmath>

#include "tests/kernels/attention/run_attention.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace attention_facts;

struct Sizes {
    int64_t heads, key_heads, length, queries, d;
};

Settings settings_of(const Sizes& sizes, const Settings& more = {}) {
    return with({{"H", sizes.heads},
                 {"H_kv", sizes.key_heads},
                 {"N", sizes.length},
                 {"N_q", sizes.queries},
                 {"D", sizes.d},
                 {"window", int64_t{40}},
                 {"backward", true}},
                more);
}

TEST_CASE("every variant is right with shared keys, a cache and any even width", "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const std::string form = GENERATE("four", "qkv");
    // One query; queries that begin inside a tile of keys, at its border, and at position 0; widths that fill
    // no vector, one strip of 16, and several.
    const auto sizes = GENERATE(Sizes{4, 1, 70, 1, 2}, Sizes{4, 2, 130, 33, 6}, Sizes{6, 3, 128, 64, 24},
                                Sizes{2, 2, 65, 64, 80}, Sizes{4, 2, 200, 70, 14}, Sizes{3, 1, 66, 66, 250});
    const auto parameters = parameters_with(
        settings_of(sizes, {{"Z", int64_t{2}}, {"causal", causal}, {"form", form}, {"base", 300.0}}));
    check_variants(parameters, generated_inputs(parameters));
}

TEST_CASE("every storage takes widths with padding", "[attention][cpu]") {
    const std::string dtype = GENERATE("f16", "bf16"), form = GENERATE("four", "qkv");
    const int64_t d = GENERATE(10, 48);
    const auto parameters =
        parameters_with(settings_of({4, 2, 90, 50, d}, {{"dtype", dtype}, {"form", form}}));
    check_variants(parameters, generated_inputs(parameters));
}

TEST_CASE("every tile size gives right outputs with shared keys and a cache", "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const int64_t block_m = GENERATE(16, 32, 256), block_n = GENERATE(16, 64, 256);
    const auto parameters = parameters_with(
        settings_of({4, 2, 300, 113, 18}, {{"causal", causal}, {"BLOCK_M", block_m}, {"BLOCK_N", block_n}}));
    check_variants(parameters, generated_inputs(parameters));
}

// The two tests on a GPU compile few kernels: SHARING, CACHE and the width are macros.
TEST_CASE("every variant is right with shared keys and a cache on CUDA", "[attention][cuda][gpu]") {
    if (!gpu()) return;
    const auto [causal, dtype] =
        GENERATE(table<bool, const char*>({{true, "bf16"}, {false, "f16"}, {true, "f32"}}));
    const std::string form = GENERATE("four", "qkv");
    for (const auto& [heads, key_heads] : {std::pair<int64_t, int64_t>{4, 1}, {4, 4}})
        for (const int64_t queries : {1, 15, 64, 65, 130, 199, 200}) {
            const auto settings =
                settings_of({heads, key_heads, 200, queries, 64},
                            {{"Z", int64_t{2}}, {"causal", causal}, {"dtype", dtype}, {"form", form}});
            const auto parameters = settled(attention_family(), settings, {}, Backend::cuda);
            check_variants(parameters, generated_inputs(parameters), Backend::cuda);
        }
}

TEST_CASE("naive is right with any even width and base on CUDA", "[attention][cuda][gpu]") {
    if (!gpu()) return;
    const std::string dtype = GENERATE("f32", "bf16");
    for (const int64_t d : {2, 6, 24, 80, 130, 250, 256}) {
        const auto settings = settings_of({4, 2, 90, 50, d}, {{"dtype", dtype}, {"base", 300.0}});
        const auto parameters = settled(attention_family(), settings, {}, Backend::cuda);
        check_variants(parameters, generated_inputs(parameters), Backend::cuda);
    }
}

// Beside the first query that a tile of keys does not hide lie queries that it does.
void check_strange_numbers(Backend backend) {
    const auto [array, value, head, position] =
        GENERATE(table<const char*, float, int64_t, int64_t>({{"k1", INFINITY, 0, 70},
                                                              {"k2", -INFINITY, 1, 3},
                                                              {"v", NAN, 1, 99},
                                                              {"v", INFINITY, 0, 61},
                                                              {"q1", NAN, 3, 5},
                                                              {"do", INFINITY, 2, 39}}));
    const auto settings = settings_of({4, 2, 100, 40, 16}, {{"form", "four"}, {"dtype", "f16"}});
    const auto parameters = settled(attention_family(), settings, {}, backend);
    Arrays inputs = generated_inputs(parameters);
    Array& changed = *find(inputs, array);
    changed.as<float>()[static_cast<size_t>((head * changed.shape[2] + position) * 16 + 3)] = value;
    check_variants(parameters, inputs, backend);
}

TEST_CASE("a number that is not finite reaches only the heads that share it", "[attention][cpu]") {
    check_strange_numbers(Backend::cpu);
}

TEST_CASE("a number that is not finite reaches only the heads that share it on CUDA",
          "[attention][cuda][gpu]") {
    if (gpu()) check_strange_numbers(Backend::cuda);
}

// Returns an array [1, heads, rows, d] with other heads: head h is head source(h).
template <class Source>
Array with_heads(const Array& from, int64_t heads, Source source) {
    Shape shape = from.shape;
    shape[1] = heads;
    Array to = Array::uninitialised(from.name, from.dtype, shape);
    const int64_t each = from.count() / from.shape[1];
    for (int64_t head = 0; head < heads; ++head)
        std::copy_n(from.as<float>().begin() + source(head) * each, each,
                    to.as<float>().begin() + head * each);
    return to;
}

bool is_of_keys(const std::string& name) {
    return name.find('k') != std::string::npos || name.ends_with("v");
}

TEST_CASE("shared keys act as copies for every head, and their gradients are the sums of those of the copies",
          "[attention][cpu]") {
    const std::string form = GENERATE("four", "qkv");
    const auto shared = parameters_with(settings_of({6, 2, 90, 50, 16}, {{"form", form}}));
    const auto copies = parameters_with(settings_of({6, 6, 90, 50, 16}, {{"form", form}}));
    const Arrays inputs = generated_inputs(shared);
    Arrays copied;
    for (const Array& input : inputs)
        copied.push_back(
            is_of_keys(input.name) ? with_heads(input, 6, [](int64_t head) { return head * 2 / 6; }) : input);
    for (const std::string& variant : variants) {
        const Ran few = run(variant, shared, inputs), many = run(variant, copies, copied);
        for (const Array& output : few.outputs) {
            INFO(variant << " " << output.name);
            const Array& of_copies = many[output.name];
            if (!is_of_keys(output.name)) {
                CHECK(distance(output, of_copies) < 1e-6);  // other copies of dq round another way
                continue;
            }
            Array sums = Array::zeros(output.name, Dtype::f32, output.shape);
            const int64_t each = of_copies.count() / 6;
            for (int64_t i = 0; i < of_copies.count(); ++i)
                sums.as<float>()[static_cast<size_t>(i / each * 2 / 6 * each + i % each)] +=
                    of_copies.as<float>()[static_cast<size_t>(i)];
            CHECK(distance(output, sums) < 1e-6);
        }
    }
}

// Returns the last `count` rows of every head.
Array last_rows(const Array& from, int64_t count) {
    Shape shape = from.shape;
    const int64_t rows = shape[2], width = from.count() / (shape[0] * shape[1] * rows);
    shape[2] = count;
    Array to = Array::uninitialised(from.name, from.dtype, shape);
    for (int64_t head = 0; head < shape[0] * shape[1]; ++head)
        std::copy_n(from.as<float>().begin() + (head * rows + rows - count) * width, count * width,
                    to.as<float>().begin() + head * count * width);
    return to;
}

TEST_CASE("the last queries alone, with the others as a cache, have the outputs that they have among all",
          "[attention][cpu]") {
    const bool causal = GENERATE(true, false);
    const std::string form = GENERATE("four", "qkv");
    const int64_t queries = GENERATE(1, 31, 64, 149);
    const auto all = parameters_with(settings_of({2, 2, 150, 150, 16}, {{"causal", causal}, {"form", form}}));
    const auto last =
        parameters_with(settings_of({2, 2, 150, queries, 16}, {{"causal", causal}, {"form", form}}));
    const Arrays inputs = generated_inputs(all);
    Arrays of_last;
    for (const Array& input : inputs)
        of_last.push_back(is_of_keys(input.name) ? input : last_rows(input, queries));
    for (const std::string& variant : variants) {
        const Ran whole = run(variant, all, inputs), part = run(variant, last, of_last);
        for (const Array& output : part.outputs) {
            INFO(variant << " " << output.name);
            if (!is_of_keys(output.name))
                CHECK(distance(output, last_rows(whole[output.name], queries)) < 1e-6);
        }
    }
}

// Returns vectors of `d` numbers with zeros after their own.
Array widened(const Array& from, int64_t d) {
    Shape shape = from.shape;
    const int64_t own = shape[3];
    shape[3] = d;
    Array to = Array::zeros(from.name, from.dtype, shape);
    for (int64_t row = 0; row < from.count() / own; ++row)
        std::copy_n(from.as<float>().begin() + row * own, own, to.as<float>().begin() + row * d);
    return to;
}

TEST_CASE("a narrow head has the outputs of one with zeros up to a whole vector", "[attention][cpu]") {
    const int64_t d = GENERATE(2, 6, 14, 18);
    const auto narrow = parameters_with(settings_of({2, 1, 70, 70, d}, {{"form", "four"}, {"scale", 0.5}}));
    const auto wide = parameters_with(settings_of({2, 1, 70, 70, 32}, {{"form", "four"}, {"scale", 0.5}}));
    const Arrays inputs = generated_inputs(narrow);
    Arrays with_zeros;
    for (const Array& input : inputs) with_zeros.push_back(widened(input, 32));
    for (const std::string& variant : variants) {
        const Ran own = run(variant, narrow, inputs), other = run(variant, wide, with_zeros);
        for (const Array& output : own.outputs) {
            INFO(variant << " " << output.name << ", D " << d);
            const Array& wanted = other[output.name];
            CHECK(distance(output.shape.size() == 4 ? widened(output, 32) : output, wanted) < 1e-6);
        }
    }
}

TEST_CASE("items of the pool own heads of keys, and launches say what is shared", "[attention][cpu]") {
    const auto parameters = parameters_with(settings_of({32, 8, 130, 40, 16}));
    const Plan plan = plan_on_cpu(attention_family(), "streaming", parameters, generated_inputs(parameters));
    const auto launch = [&](const char* name) -> const LaunchInfo& {
        for (const Launch& one : plan.launches)
            if (one.info->name == name) return *one.info;
        FAIL(name);
        return *plan.launches.front().info;
    };
    CHECK(launch("forward").grid_formula == "ceil(N_q / BLOCK_M) * Z H");
    CHECK(launch("forward").grid.x == 32);
    CHECK(launch("backward").grid.x == 8 * 2);
    CHECK(contains(launch("forward").meaning, "4 heads share their keys and values."));
    CHECK(contains(launch("forward").meaning, "The first query stands at position 90."));
    const Plan usual = plan_on_cpu(attention_family(), "streaming", parameters_with({}),
                                   generated_inputs(parameters_with({})));
    for (const Launch& one : usual.launches) {
        CHECK_FALSE(contains(one.info->meaning, "share"));
        CHECK_FALSE(contains(one.info->grid_formula, "N_q"));
    }
}

TEST_CASE("kernels compile for shared keys, a cache and any even width", "[attention][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const bool causal = GENERATE(true, false);
    const auto check = [&](const char* variant, const Sizes& sizes) {
        const auto parameters = settled(
            attention_family(), settings_of(sizes, {{"causal", causal}, {"base", 300.0}}), {}, Backend::cuda);
        const Plan plan = plan_in_theory(*device, variant, parameters);
        INFO(variant);
        for (const Launch& launch : plan.launches) CHECK(faults_of(*launch.info, device->chip(), 64) == "");
        const auto forward = plan.launches[1].info->grid;
        CHECK(forward.x == 1);
    };
    for (const char* variant : {"streaming", "streaming_wgmma"}) check(variant, {8, 2, 300, 60, 64});
    for (const int64_t d : {2, 80, 256}) check("naive", {8, 2, 300, 60, d});
}

}  // namespace
}  // namespace sawtooth

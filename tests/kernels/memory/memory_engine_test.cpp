// The memory rules through the engine: extras, references at chunks, very many launches, skipped variants.

#include "app/engine/machine/memory.h"

#include <algorithm>

#include "app/engine/files/npz.h"
#include "app/engine/run/runner.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace memory_facts;

Request memory_request(const Settings& settings, Extras extras = Extras::all) {
    Request request;
    request.family = "memory";
    request.repeats = 1;
    request.threads = 1;
    request.extras = extras;
    for (const auto& [name, value] : settings) request.parameters.set(name, value);
    return request;
}

std::shared_ptr<const Result> result_of(Runner& runner, const Request& request) {
    const auto outcome = runner.run(request, {});
    if (!outcome) FAIL(outcome.error().text);
    return *outcome;
}

const OutputError* error_of(const VariantResult& variant, const std::string& output) {
    for (const OutputError& error : variant.errors)
        if (error.output == output) return &error;
    return nullptr;
}

Settings small(const Settings& more = {}) {
    return with({{"length", int64_t{100}}, {"d", int64_t{8}}, {"chunk", int64_t{16}}}, more);
}

TEST_CASE("boundaries are stored on request, and never in timed runs", "[memory][engine]") {
    Runner runner(shared_cache());
    const auto with = result_of(runner, memory_request(small()));
    const auto without = result_of(runner, memory_request(small(), Extras::none));
    CHECK(find(with->reference, "boundaries"));
    CHECK_FALSE(find(without->reference, "boundaries"));
    for (const VariantResult& variant : with->variants) {
        if (!variant.ran()) continue;
        INFO(variant.name);
        CHECK(find(variant.outputs, "boundaries"));
        CHECK(error_of(variant, "boundaries"));
        const VariantResult& other = *find(*without, variant.name);
        CHECK_FALSE(find(other.outputs, "boundaries"));
        CHECK(same_bits(*find(variant.outputs, "y"), *find(other.outputs, "y")));
    }
    const auto configuration = configure(memory_request(small()), {});
    const auto machine = runner.machine(memory_request(small()), memory_family());
    CHECK(needed_memory(*configuration, *machine, true).host >
          needed_memory(*configuration, *machine, false).host);
    CHECK(stores_extras(*configuration, Extras::drawable));
    // 2^20 boundaries of 8 x 8 numbers are too many for a figure.
    const auto huge = configure(
        memory_request({{"length", int64_t{1} << 20}, {"d", int64_t{8}}, {"chunk", int64_t{1}}}), {});
    CHECK_FALSE(stores_extras(*huge, Extras::drawable));
    CHECK(stores_extras(*huge, Extras::all));
}

TEST_CASE("variants that do not fit in memory together are timed one after another", "[memory][engine]") {
    Runner runner(shared_cache());
    Request request = memory_request(small({{"length", int64_t{4000}}}));
    const auto machine = runner.machine(request, memory_family());
    const MemoryNeed need = needed_memory(*configure(request, {}), *machine, true);
    REQUIRE(need.host < need.host_together);
    const auto together = result_of(runner, request);
    CHECK(together->in_turns);
    request.memory_limit_bytes = (need.host + need.host_together) / 2;
    const auto apart = result_of(runner, request);
    CHECK_FALSE(apart->in_turns);
    CHECK(std::any_of(apart->notes.begin(), apart->notes.end(),
                      [](const std::string& note) { return contains(note, "one after another"); }));
    for (const VariantResult& variant : apart->variants) {
        if (!variant.ran()) continue;
        INFO(variant.name);
        CHECK(variant.verdict() == Verdict::right);
        CHECK(variant.time->samples.size() == static_cast<size_t>(request.repeats));
        CHECK(same_bits(*find(variant.outputs, "y"), *find(find(*together, variant.name)->outputs, "y")));
    }
}

TEST_CASE("boundaries are compared with those of the same chunk, also when it changes", "[memory][engine]") {
    Runner runner(shared_cache());
    for (const int64_t chunk : {16, 10, 33}) {
        const auto result = result_of(
            runner, memory_request(small({{"chunk", chunk}, {"C_G", int64_t{50}}, {"C_L", int64_t{5}}})));
        const int64_t count = (100 + chunk - 1) / chunk + 1;
        CHECK(find(result->reference, "boundaries")->shape == Shape{1, count, 8, 8});
        CHECK(find(result->reference, "tnt/boundaries")->shape == Shape{1, 3, 8, 8});
        CHECK(*error_of(*find(*result, "exact_chunk"), "boundaries")->rel_l2 < 1e-5);
        CHECK(*error_of(*find(*result, "chunkwise_gd"), "boundaries")->rel_l2 > 1e-4);
        CHECK(find(find(*result, "tnt")->outputs, "boundaries")->shape == Shape{1, 3, 8, 8});
        CHECK(error_of(*find(*result, "tnt"), "boundaries"));
    }
}

TEST_CASE("launches beyond the recorded ones are timed and noted", "[memory][engine]") {
    Runner runner(shared_cache());
    Request request = memory_request({{"length", int64_t{20000}}, {"d", int64_t{1}}}, Extras::none);
    request.variants = {"sequential", "sequential_persistent"};
    const auto result = result_of(runner, request);
    const VariantResult& sequential = *find(*result, "sequential");
    CHECK(sequential.launches.size() == most_kept_launches);
    CHECK(sequential.launch_count == 20000);
    CHECK(sequential.time->median > sequential.launches.back().start_us);
    CHECK(find(*result, "sequential_persistent")->launch_count == 1);
    bool is_said = false;
    for (const std::string& note : result->notes)
        is_said = is_said || note.starts_with("sequential: 20000 launches");
    CHECK(is_said);
}

TEST_CASE("strategies that do not support the rule are skipped, or refused if named", "[memory][engine]") {
    Runner runner(shared_cache());
    Request request = memory_request(small({{"rule", "lattice"}}));
    const auto result = result_of(runner, request);
    CHECK_FALSE(find(*result, "exact_chunk")->ran());
    CHECK(find(*result, "lattice_gla")->ran());
    request.variants = {"exact_chunk"};
    const auto refused = runner.run(request, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().exit_code() == 1);
    CHECK(refused.error().text == "no variant can run this; exact_chunk: needs rule delta");
}

TEST_CASE("windows of tokens come from a file, which decides omega_window", "[memory][engine]") {
    TemporaryFolder folder;
    Runner runner(shared_cache());
    std::vector<int32_t> sizes(2 * 50);
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = static_cast<int32_t>(1 + i * 7 % 20);
    Request request = memory_request({{"rule", "atlas_omega"}, {"d", int64_t{8}}, {"chunk", int64_t{16}}});
    request.input = folder.file("windows.npz");
    REQUIRE_FALSE(write_npz(request.input, {integers("omega_windows", {2, 50}, sizes)}));
    const auto result = result_of(runner, request);
    CHECK(result->parameters.integer("omega_window") == 20);
    CHECK(result->parameters.integer("length") == 50);
    int64_t right = 0;
    for (const VariantResult& variant : result->variants) {
        if (!variant.ran()) continue;
        INFO(variant.name);
        CHECK(variant.verdict() == Verdict::right);
        ++right;
    }
    CHECK(right == 6);
    sizes[57] = 0;
    REQUIRE_FALSE(write_npz(request.input, {integers("omega_windows", {2, 50}, sizes)}));
    const auto refused = runner.run(request, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text == "omega_windows[1, 7] = 0: must be 1 to 16777216 tokens");
}

TEST_CASE("a variant's minimum of work is at most what its launches do", "[memory][engine]") {
    Runner runner(shared_cache());
    const auto result = result_of(
        runner, memory_request({{"rule", "atlas_omega"}, {"length", int64_t{256}}, {"d", int64_t{16}}}));
    const auto done = [&](const VariantResult& variant) {
        double operations = 0;
        for (const LaunchRecord& launch : variant.launches) operations += launch.info->work.operations;
        return operations;
    };
    // The exact rule computes the errors of 8 tokens for every token, the matrix form of a chunk does not.
    const VariantResult& frozen = *find(*result, "chunkwise_gd");
    CHECK(frozen.work.operations == Approx(done(frozen)));
    CHECK(frozen.work.operations < result->work.operations);
    const VariantResult& exact = *find(*result, "sequential");
    CHECK(exact.work.operations == result->work.operations);
    CHECK(done(exact) >= result->work.operations);
}

TEST_CASE("the minimum of work of memory has every array once, and windows only as far as the sequence",
          "[memory]") {
    const auto work_with = [](const char* rule, const Settings& more, const Arrays& inputs = {}) {
        const Settings settings = {
            {"rule", rule}, {"batch", int64_t{1}}, {"length", int64_t{4}}, {"d", int64_t{8}}};
        return memory::work(settled(memory_family(), with(settings, more), {}), inputs);
    };
    constexpr double vectors = 4 * 4 * 8 * 4, gates = 4 * 4, matrix = 8 * 8;
    // Windows of 3 tokens have 1, 2, 3 and 3 of them.
    CHECK(work_with("atlas_omega", {{"omega_window", int64_t{3}}}).operations == matrix * (5 * 4 + 4 * 9));
    CHECK(work_with("delta", {}).bytes == vectors + 2 * gates + 4 * matrix);
    CHECK(work_with("titans", {}).bytes == vectors + 3 * gates + 2 * 4 * matrix);
    CHECK(work_with("atlas", {}).bytes == work_with("titans", {}).bytes + 2 * 4 * matrix);
    const Arrays given = {Array::uninitialised("m0", Dtype::f32, {1, 8, 8})};
    CHECK(work_with("delta", {}, given).bytes == work_with("delta", {}).bytes + 4 * matrix);
}

TEST_CASE("divergence is counted, not hidden", "[memory][engine]") {
    Runner runner(shared_cache());
    const auto result = result_of(
        runner,
        memory_request(
            {{"rule", "trellis"}, {"length", int64_t{8192}}, {"d", int64_t{32}}, {"chunk", int64_t{64}}}));
    const OutputError& error = *error_of(*find(*result, "chunkwise_gd"), "y");
    CHECK(error.nonfinite > 0);
    REQUIRE(error.first_nonfinite);
    CHECK(*error.first_nonfinite > 0);
    CHECK(error_of(*find(*result, "sequential"), "y")->nonfinite == 0);
}

TEST_CASE("the reference of levels is cached while other parameters change", "[memory][engine]") {
    Runner runner(shared_cache());
    const auto result = result_of(runner, memory_request(small({{"levels", std::vector<int64_t>{1, 8}}})));
    const VariantResult& gd = *find(*result, "chunkwise_gd");
    CHECK(*error_of(gd, "pulse")->max_abs == 0);
    CHECK(error_of(gd, "level_y")->by_position.size() == 100);
    const auto other = result_of(runner, memory_request(small({{"levels", std::vector<int64_t>{4}}})));
    CHECK(find(other->reference, "pulse")->shape == Shape{1, 100});
    const auto none = result_of(runner, memory_request(small()));
    CHECK_FALSE(find(none->reference, "pulse"));
}

TEST_CASE("a swept parameter can set others", "[memory][engine]") {
    LocalSource source(shared_cache());
    const Sweep sweep{"", memory_request(small()), {{"chunk", {int64_t{20}, int64_t{50}}, {"C_G"}}}};
    const auto swept = run_sweep(source, sweep, {});
    REQUIRE(swept);
    CHECK(swept->cells[0].result->parameters.integer("C_G") == 20);
    CHECK(swept->cells[1].result->parameters.integer("C_G") == 50);
    CHECK(find(*swept->cells[1].result, "tnt")->launch_count == 4);
}

}  // namespace
}  // namespace sawtooth

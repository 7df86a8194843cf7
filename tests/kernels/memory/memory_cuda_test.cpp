// The family memory on CUDA: its plans for theoretical devices, which need no GPU, and the results of its
// kernels if there is a GPU.

#include <map>

#include "kernels/cuda/chips.h"
#include "kernels/memory/cuda/strategies.h"
#include "profiling/gpu_timer.h"
#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/run_judge.h"

namespace sawtooth::memory_facts {
namespace {

Settings sized(const char* rule, int64_t batch, int64_t length, int64_t d, int64_t chunk,
               const Settings& more = {}) {
    return with({{"rule", rule}, {"batch", batch}, {"length", length}, {"d", d}, {"chunk", chunk}}, more);
}

// A setting for which exact_chunk walks and reads in one launch if the batch is large.
Settings fused(int64_t batch, int64_t length, int64_t d) {
    return sized("delta", batch, length, d, 64, {{"dtype", "bf16"}, {"precision", "bf16"}});
}

// Every rule, precision and dtype, with widths that fill tiles and others.
std::vector<Settings> covering_set() {
    return {sized("titans", 2, 300, 64, 64, {{"precision", "bf16"}, {"dtype", "bf16"}}),
            sized("delta", 2, 300, 33, 16, {{"precision", "tf32"}, {"dtype", "f16"}}),
            sized("hebbian", 2, 300, 16, 100),
            sized("atlas", 2, 300, 24, 64, {{"readout", "boundary"}}),
            sized("atlas_omega", 2, 300, 32, 64, {{"precision", "tf32"}}),
            sized("lattice", 2, 300, 24, 16),
            sized("trellis", 2, 300, 32, 8, {{"precision", "bf16"}}),
            fused(64, 300, 64),
            fused(22, 300, 128)};
}

TEST_CASE("kernels of memory hardly spill registers on Hopper", "[memory][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    for (const Settings& settings : covering_set()) {
        const Parameters parameters = parameters_with(settings);
        for (const std::string& variant : strategies_for(parameters, device->chip())) {
            // With optional inputs windows vary.
            for (const bool with_optional : {false, true}) {
                INFO(variant << " " << parameters.text("rule") << (with_optional ? ", optional inputs" : ""));
                const Plan plan = plan_in_theory(*device, variant, parameters, false, with_optional);
                std::shared_ptr<const LaunchInfo> last;
                for (const Launch& launch : plan.launches) {
                    if (std::exchange(last, launch.info) == launch.info) continue;
                    // A call of a square root or a division may spill a few.
                    CHECK(faults_of(*launch.info, device->chip(), 64) == "");
                }
            }
        }
    }
}

TEST_CASE("every strategy of memory on CUDA is the algorithm of its name", "[memory][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto names = [&](const char* variant, const Settings& settings) {
        // A dry plan compiles nothing, but has one launch instead of one per token or shard.
        const bool dry = std::string(variant) != "sequential" && std::string(variant) != "tnt";
        std::map<std::string, int> counts;
        for (const Launch& launch : plan_in_theory(*device, variant, parameters_with(settings), dry).launches)
            ++counts[launch.info->name];
        return counts;
    };
    using Counts = std::map<std::string, int>;
    const Settings delta = sized("delta", 2, 300, 32, 64, {{"C_G", int64_t{100}}, {"C_L", int64_t{25}}});
    CHECK(names("sequential", delta) == Counts{{"token", 300}});
    CHECK(names("sequential_persistent", delta) == Counts{{"tokens", 1}});
    CHECK(names("chunkwise_gd", delta) == Counts{{"prepare", 1}, {"walk", 1}, {"read", 1}});
    const Counts in_three = {{"solve", 1}, {"walk", 1}, {"read", 1}};
    CHECK(names("exact_chunk", delta) == in_three);
    for (const auto& [batch, d] : {std::pair<int64_t, int64_t>{64, 64}, {22, 128}})
        CHECK(names("exact_chunk", fused(batch, 300, d)) == Counts{{"solve", 1}, {"walk_and_read", 1}});
    CHECK(names("exact_chunk", fused(8, 300, 64)) == in_three);
    CHECK(names("exact_chunk", with(fused(64, 300, 64), {{"chunk", int64_t{96}}})) == in_three);
    CHECK(names("exact_chunk", with(fused(64, 300, 64), {{"precision", "tf32"}})) == in_three);
    CHECK(names("associative_scan", delta) == Counts{{"tree", 1}});
    CHECK(names("tnt", delta) == Counts{{"locals", 3}, {"global_step", 3}});
    const Settings atlas = sized("atlas", 2, 300, 32, 64);
    CHECK(names("atlas_parallel", atlas) ==
          Counts{{"prepare", 1}, {"sum_tiles", 1}, {"scan_tiles", 1}, {"read", 1}});
    const Settings lattice = sized("lattice", 2, 300, 32, 64);
    CHECK(names("tnt", lattice) == Counts{{"locals", 3}});
    CHECK(names("sequential", lattice) == Counts{{"token", 300}});
    CHECK(names("lattice_gla", lattice) == Counts{{"walk_slots", 1}, {"read_slots", 1}});
    const Settings trellis = sized("trellis", 2, 300, 32, 64);
    CHECK(names("sequential", trellis) == Counts{{"token", 300}});
    CHECK(names("tnt", trellis) == Counts{{"locals", 3}});
    for (const char* const variant : {"chunkwise_gd", "lattice_gla"})
        CHECK(names(variant, trellis) == Counts{{"prepare_keys", 1},
                                                {"walk_keys", 1},
                                                {"read_keys", 1},
                                                {"read_queries", 1},
                                                {"prepare_values", 1},
                                                {"walk_values", 1},
                                                {"read_values", 1}});
}

TEST_CASE("launches of one per token share one description", "[memory][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const char* const rule = GENERATE("titans", "lattice", "trellis");
    const Plan plan = plan_in_theory(*device, "sequential", parameters_with(sized(rule, 1, 50, 16, 8)));
    REQUIRE(plan.launches.size() == 50);
    for (const Launch& launch : plan.launches) CHECK(launch.info == plan.launches.front().info);
}

TEST_CASE("the plan has the requested way to launch", "[memory][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto [word, follow] =
        GENERATE(table<const char*, Follow>({{"sync", Follow::wait},
                                             {"stream", Follow::stream},
                                             {"graph", Follow::graph},
                                             {"graph_pdl", Follow::graph_programmatic}}));
    const auto parameters = parameters_with(sized("delta", 1, 8, 8, 8, {{"launch", word}}));
    CHECK(plan_in_theory(*device, "sequential", parameters, true).follow == follow);
}

TEST_CASE("memory settings that a GPU cannot run are refused with a reason", "[memory][cuda]") {
    const auto refusal = [](const char* variant, const char* chip, const Settings& settings) {
        const auto words =
            memory_family().variant(variant)->refusal(parameters_with(settings), *cuda::chip_of(chip));
        return words ? *words : "";
    };
    CHECK(refusal("sequential", "sm_90a", sized("delta", 1, 8, 128, 8)).empty());
    CHECK(refusal("sequential", "sm_90a", sized("delta", 1, 8, 129, 8))
              .starts_with("d = 129: must be up to 128"));
    CHECK(refusal("sequential", "sm_80", sized("delta", 1, 8, 8, 8, {{"launch", "graph_pdl"}}))
              .starts_with("launch = graph_pdl: "));
    CHECK(refusal("sequential", "sm_90a", sized("delta", 1, 8, 8, 8, {{"launch", "graph_pdl"}})).empty());
    CHECK(refusal("sequential", "sm_86", sized("lattice", 1, 8, 128, 8, {{"slot_count", int64_t{1024}}}))
              .starts_with("slot_count = 1024 needs "));
    CHECK(refusal("sequential", "sm_86",
                  sized("atlas_omega", 1, 5000, 128, 8, {{"omega_window", int64_t{4000}}}))
              .starts_with("omega_window = 4000 needs "));
    CHECK(refusal("associative_scan", "sm_86", sized("atlas", 1, 8, 128, 8)).starts_with("d = 128 needs "));
}

TEST_CASE("memory settings that a GPU accepts have a plan", "[memory][cuda]") {
    const std::string rule = any_rule();
    const std::string dtype = GENERATE("f32", "bf16");
    for (const char* const architecture : {"sm_86", "sm_90a"}) {
        cuda::Device* const device = theory(architecture);
        if (!device) return;
        for (const int64_t d : {1, 64, 107, 128})
            for (const char* const precision : {"f32", "bf16"}) {
                const auto parameters =
                    parameters_with(sized(rule.c_str(), 2, 300, d, 300,
                                          {{"dtype", dtype}, {"precision", precision}, {"compress", d}}));
                for (const std::string& variant : strategies_for(parameters, device->chip())) {
                    INFO(architecture << " " << rule << " " << dtype << " " << precision << " d " << d);
                    CHECK_FALSE(plan_in_theory(*device, variant, parameters, true).launches.empty());
                }
            }
    }
}

TEST_CASE("shards may have any number of local memories, chunks any number of tiles", "[memory][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const int64_t length = 1 << 17;
    const Settings locals = {{"C_G", length}, {"C_L", int64_t{1}}};
    const Plan shard =
        plan_in_theory(*device, "tnt", parameters_with(sized("delta", 1, length, 2, length, locals)), true);
    CHECK(shard.launches[0].info->grid.x == length);
    const Plan chunk = plan_in_theory(*device, "chunkwise_gd",
                                      parameters_with(sized("hebbian", 1, 1 << 23, 2, 1 << 23)), true);
    CHECK(chunk.launches[1].info->grid.x == (1 << 23) / 64);
}

// The plan of chunkwise_gd, lattice_gla or exact_chunk in ranges of `room` bytes of scratch.
Plan plan_in_ranges(cuda::Device& device, const char* variant, const Parameters& parameters,
                    const Arrays& inputs, int64_t room) {
    const PlanRequest request = {.family = memory_family(),
                                 .variant = *memory_family().variant(variant),
                                 .parameters = parameters,
                                 .inputs = inputs,
                                 .device = &device,
                                 .stores_extras = true};
    cuda::PlanBuilder builder(request);
    const memory::Tensors tensors(builder, memory::strategy_of(request.variant));
    if (tensors.rule->is(memory::State::trellis))
        memory::add_trellis_tiles(builder, tensors, std::string(variant) == "lattice_gla", room);
    else
        memory::add_matrix_tiles(builder, tensors, std::string(variant) == "exact_chunk", room);
    auto plan = builder.finish();
    if (!plan) FAIL(variant << ": " << plan.error().text);
    return std::move(*plan);
}

constexpr int64_t one_chunk = 1;  // bytes of room: less than a chunk, so every chunk is a range

// Every way to pass a state from range to range: walked, solved, scanned, two chains.
const std::vector<std::pair<const char*, const char*>> ranged = {
    {"titans", "chunkwise_gd"},  {"atlas_omega", "chunkwise_gd"}, {"delta", "exact_chunk"},
    {"atlas", "atlas_parallel"}, {"trellis", "chunkwise_gd"},     {"trellis", "lattice_gla"}};

TEST_CASE("with little memory a plan has one range per chunk", "[memory][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    for (const auto& [rule, variant] : ranged) {
        const Parameters parameters = parameters_with(sized(rule, 2, 100, 16, 32));
        const Arrays inputs = input_shapes(memory_family(), parameters, true);
        const Plan whole = plan_in_ranges(*device, variant, parameters, inputs, memory::usual_room);
        const Plan ranges = plan_in_ranges(*device, variant, parameters, inputs, one_chunk);
        CHECK(ranges.launches.size() == 4 * whole.launches.size());
        INFO(rule << " " << variant);
        CHECK(ranges.memory_bytes < whole.memory_bytes);
    }
}

void check_variants(const Settings& settings) {
    const Parameters parameters = parameters_with(settings);
    check_variants(parameters, inputs_for(parameters), Backend::cuda);
}

// Trellis diverges with long chunks.
int64_t chunk_for(const char* rule, int64_t chunk) {
    return std::string(rule) == "trellis" ? std::min<int64_t>(chunk, 8) : chunk;
}

TEST_CASE("every strategy of memory is right on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const char* const rule = GENERATE(from_range(every_rule));
    const int64_t chunk = chunk_for(rule, 64);
    check_variants(sized(rule, 2, 300, 64, chunk));
    // Odd widths, chunks above the length, short last chunks, several tiles per chunk.
    check_variants(sized(rule, 3, 77, 33, 16, {{"compress", int64_t{9}}, {"slot_count", int64_t{5}}}));
    check_variants(sized(rule, 2, 40, 1, 1, {{"compress", int64_t{1}}}));
    check_variants(sized(rule, 1, 100, 16, chunk, {{"readout", "boundary"}}));
}

TEST_CASE("windows of every token are right on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const char* const precision = GENERATE("f32", "bf16");
    const auto check = [&](int64_t batch, int64_t length, int64_t d, int64_t chunk, int64_t longest,
                           Settings more = {}) {
        more.insert(more.end(), {{"precision", precision}, {"omega_window", longest}});
        const Parameters parameters = parameters_with(sized("atlas_omega", batch, length, d, chunk, more));
        check_variants(parameters, inputs_with_windows(parameters), Backend::cuda);
    };
    check(2, 300, 64, 64, 8);
    check(3, 77, 33, 16, 20, {{"C_G", int64_t{40}}, {"C_L", int64_t{7}}});
    check(1, 100, 16, 64, 150, {{"readout", "boundary"}});
    // Windows longer than a tile, chunks of several tiles.
    check(2, 300, 32, 200, 100);
}

TEST_CASE("shards pass the slots of their last local memory on, on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const char* const rule = GENERATE("lattice", "trellis");
    const char* const launch = GENERATE("stream", "graph_pdl");
    const Settings::value_type how = {"launch", launch};
    if (memory_family().variant("tnt")->refusal(parameters_with({how}), gpu()->chip())) return;
    // Five shards, a last one of one token; one shard; one token per local memory.
    for (const auto& [shard, local] : {std::pair{16, 5}, std::pair{100, 100}, std::pair{20, 1}})
        check_variants(sized(rule, 3, 65, 33, 8,
                             {how,
                              {"C_G", int64_t{shard}},
                              {"C_L", int64_t{local}},
                              {"compress", int64_t{9}},
                              {"slot_count", int64_t{5}}}));
}

TEST_CASE("large shapes of memory are right on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const char* const precision = GENERATE("f32", "tf32", "bf16");
    const auto check = [&](const char* rule, int64_t batch, int64_t length, int64_t d, int64_t chunk,
                           Settings more = {}) {
        more.emplace_back("precision", precision);
        check_variants(sized(rule, batch, length, d, chunk, more));
    };
    for (const char* rule : {"titans", "delta", "hebbian", "atlas", "atlas_omega"}) {
        // Chunks of several tiles: the boundary's memory is kept past the first tile.
        check(rule, 1, 200, 32, 65);
        check(rule, 1, 700, 64, 512);
        check(rule, 1, 130, 128, 64);
    }
    check("lattice", 1, 300, 32, 200);
    check("lattice", 1, 100, 128, 64);
    check("trellis", 1, 60, 128, 8, {{"compress", int64_t{128}}});  // longer ones lose the digits of bf16
    // Windows longer than a tile, and longer than two.
    check("atlas_omega", 1, 300, 32, 64, {{"omega_window", int64_t{65}}});
    check("atlas_omega", 1, 300, 64, 100, {{"omega_window", int64_t{150}}});
    // So many strips that several share a thread block: four of 16 rows each, for two SMs.
    const int64_t batch = gpu()->chip().multiprocessors / 2 + 1;
    check("delta", batch, 100, 64, 64);
    check("titans", batch, 100, 64, 64);
}

TEST_CASE("exact_chunk that walks and reads in one launch is right on CUDA", "[memory][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const int64_t blocks = device->chip().multiprocessors / 3 + 1;
    const bool normalises = GENERATE(true, false);
    const int64_t length = GENERATE(1, 63, 65, 200), d = GENERATE(64, 128);
    const Parameters parameters = parameters_with(
        with(fused(blocks * 64 / d, length, d), {{"chunk", 2 * d}, {"normalise", normalises}}));
    Arrays inputs = inputs_for(parameters);
    // With long keys the rule diverges.
    if (!normalises)
        for (float& number : find(inputs, "k")->as<float>()) number /= 16;
    const Arrays outputs = run_on_device(*device, memory_family(), "exact_chunk", parameters, inputs);
    check_verdicts(judged(memory_family(), "exact_chunk", parameters, inputs, outputs, Backend::cuda));
}

TEST_CASE("a range continues where the previous one ended", "[memory][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const char* const precision = GENERATE("f32", "tf32", "bf16");
    std::vector<std::tuple<const char*, const char*, Settings>> all;
    for (const auto& [rule, variant] : ranged)
        all.emplace_back(rule, variant, sized(rule, 2, 150, 32, chunk_for(rule, 40)));
    all.emplace_back("delta", "exact_chunk", fused(device->chip().multiprocessors, 200, 64));
    for (const auto& [rule, variant, settings] : all) {
        const Parameters parameters = parameters_with(with(settings, {{"precision", precision}}));
        const Arrays inputs = inputs_for(parameters);
        const Plan plan = plan_in_ranges(*device, variant, parameters, inputs, one_chunk);
        GpuTimer timer(*device);
        if (const auto error = timer.run(plan)) FAIL(error->text);
        const auto outputs = plan.outputs();
        REQUIRE(outputs);
        INFO(rule << " " << variant << " " << precision);
        CHECK(same_bits(*outputs, run_on_device(*device, memory_family(), variant, parameters, inputs)));
    }
}

TEST_CASE("overlapping launches change no bit", "[memory][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const char* const rule = GENERATE(from_range(every_rule));
    const char* const precision = GENERATE("f32", "bf16");
    const auto with = [&](const char* launch) {
        return parameters_with(sized(rule, 2, 150, 32, chunk_for(rule, 64),
                                     {{"precision", precision},
                                      {"launch", launch},
                                      {"C_G", int64_t{50}},
                                      {"C_L", int64_t{20}},
                                      {"levels", std::vector<int64_t>{1, 8}}}));
    };
    const Parameters in_stream = with("stream"), overlapping = with("graph_pdl");
    const Arrays inputs = inputs_for(in_stream);
    for (const std::string& variant : strategies_for(overlapping, device->chip())) {
        INFO(rule << " " << variant << " " << precision);
        CHECK(same_bits(run_on_device(*device, memory_family(), variant, overlapping, inputs, 4),
                        run_on_device(*device, memory_family(), variant, in_stream, inputs)));
    }
}

TEST_CASE("narrow types and products of memory are right on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const auto [dtype, precision] =
        GENERATE(table<const char*, const char*>({{"bf16", "f32"}, {"f16", "tf32"}, {"bf16", "bf16"}}));
    for (const char* rule : {"delta", "titans", "atlas"})
        check_variants(sized(rule, 2, 200, 64, 64, {{"dtype", dtype}, {"precision", precision}}));
}

TEST_CASE("alpha of 1 and the underflow of decay give no NaN on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const char* const rule = GENERATE("titans", "delta", "hebbian", "atlas");
    const auto parameters = parameters_with(sized(rule, 1, 400, 16, 64));
    Arrays inputs = inputs_for(parameters);
    fill(inputs, "alpha", 0.999f);
    check_variants(parameters, inputs, Backend::cuda);
    inputs = inputs_for(parameters);
    const auto alpha = find(inputs, "alpha")->as<float>();
    for (size_t t = 3; t < alpha.size(); t += 5) alpha[t] = 1;
    check_variants(parameters, inputs, Backend::cuda);
}

TEST_CASE("levels of memory are right on CUDA", "[memory][cuda][gpu]") {
    if (!gpu()) return;
    const char* const rule = GENERATE("titans", "lattice", "trellis");
    const std::vector<int64_t> levels = {1, 8, 50};
    check_variants(sized(rule, 2, 130, 16, 8, {{"levels", levels}}));
}

TEST_CASE("all ways to launch give the same bits and a timeline", "[memory][cuda][gpu]") {
    cuda::Device* const device = gpu();
    if (!device) return;
    const auto result_of = [&](const char* launch) {
        const auto parameters = parameters_with(sized("titans", 2, 100, 32, 8, {{"launch", launch}}));
        if (memory_family().variant("sequential")->refusal(parameters, device->chip())) return Arrays{};
        const Plan plan =
            plan_on_device(*device, memory_family(), "sequential", parameters, inputs_for(parameters));
        GpuTimer timer(*device);
        for (int repeat = 0; repeat < 2; ++repeat) {
            const auto timed = timer.time(plan, Cache::hot);
            REQUIRE(timed);
            INFO(launch << " " << timer.note());
            if (timer.note().empty()) CHECK(timed->launches.size() == 100);
        }
        return *plan.outputs();
    };
    const Arrays in_stream = result_of("stream");
    for (const char* launch : {"sync", "graph", "graph_pdl"}) {
        const Arrays outputs = result_of(launch);
        INFO(launch);
        CHECK((outputs.empty() || same_bits(in_stream, outputs)));
    }
}

}  // namespace
}  // namespace sawtooth::memory_facts

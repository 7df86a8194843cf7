// Properties of every strategy of the memory rules: causality, independence, equal bits, the fold, and the
// launches of the algorithm of its name.

#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

using namespace memory_facts;

// Small settings, with short last chunks and tiles.
Settings usual_settings(const std::string& rule) {
    return {{"rule", rule},         {"batch", int64_t{2}},    {"length", int64_t{150}},
            {"d", int64_t{20}},     {"compress", int64_t{6}}, {"slot_count", int64_t{5}},
            {"chunk", int64_t{70}}, {"C_G", int64_t{48}},     {"C_L", int64_t{11}}};
}

TEST_CASE("a run is the fold of a strategy over its chunks", "[memory][cpu]") {
    const int64_t chunk = GENERATE(1, 16, 70);
    const auto parameters =
        parameters_with(with(usual_settings(any_rule()),
                             {{"chunk", chunk}, {"C_G", chunk}, {"C_L", std::min<int64_t>(chunk, 11)}}));
    const Arrays inputs = inputs_for(parameters);
    for (const std::string& name : strategies_for(parameters)) {
        const PlanRequest request{.family = memory_family(),
                                  .variant = *memory_family().variant(name),
                                  .parameters = parameters,
                                  .inputs = inputs,
                                  .stores_extras = true};
        const Ran whole = run(*make_plan(request), pool_of_one());
        for (int64_t chunks : {1, 3}) {
            const Ran fold = run(*memory::plan_fold(request, chunks), pool_of_one());
            INFO(name << " chunk " << chunk << ", " << chunks << " at a time");
            CHECK(same_bits(fold.outputs, whole.outputs));
        }
    }
}

TEST_CASE("the room of a strategy limits the chunks per call", "[memory][cpu]") {
    // Chunks of one token with 64 x 64 matrices: 4096 boundaries of 16 KiB would take more than 64 MiB.
    const auto parameters = parameters_with(
        {{"rule", "titans"}, {"length", int64_t{4096}}, {"d", int64_t{64}}, {"chunk", int64_t{1}}});
    const Arrays inputs = inputs_for(parameters);
    for (const char* strategy : {"chunkwise_gd", "associative_scan"}) {
        const Plan plan = *make_plan({.family = memory_family(),
                                      .variant = *memory_family().variant(strategy),
                                      .parameters = parameters,
                                      .inputs = inputs});
        INFO(strategy);
        CHECK(plan.memory_bytes < 48 << 20);
        const Ran ran = run(plan, pool_of_one());
        CHECK(ran.launches.size() > 3);
        CHECK(distance(ran["y"], *find(reference_for(parameters, inputs), "y")) < 1e-5);
    }
}

TEST_CASE("every strategy is the algorithm of its name", "[memory][cpu]") {
    using Names = std::vector<std::string>;
    const std::string rule = any_rule();
    const auto parameters = parameters_with(usual_settings(rule));
    const Arrays inputs = inputs_for(parameters);
    const bool is_matrix = rule != "lattice" && rule != "trellis";
    const int64_t items = is_matrix ? 2 * 2 : 2;  // two sequences; two strips of 16 of 20 rows
    for (const std::string& strategy : strategies_for(parameters)) {
        const Ran ran = run(strategy, parameters, inputs);
        INFO(strategy << " " << rule);
        if (strategy == "sequential") {
            CHECK(ran.launches.size() == 150);
            for (const LaunchRecord& launch : ran.launches) CHECK(launch.tally.combines == items);
        }
        if (strategy == "sequential_persistent") {
            CHECK(ran.launches.size() == 1);
            CHECK(ran.tally().combines == 150 * items);
        }
        if (strategy == "chunkwise_gd" || strategy == "lattice_gla") {
            if (is_matrix) CHECK(names_of(ran) == Names{"prepare", "walk", "read"});
            if (rule == "lattice") CHECK(names_of(ran) == Names{"prepare", "walk_slots", "read_slots"});
            if (rule == "trellis")
                CHECK(names_of(ran) == Names{"prepare_keys", "walk_keys", "read_keys", "read_queries",
                                             "prepare_values", "walk_values", "read_values"});
        }
        if (strategy == "exact_chunk") CHECK(names_of(ran) == Names{"solve", "walk", "read"});
        if (strategy == "atlas_parallel" && rule == "atlas") {
            CHECK(names_of(ran) == Names{"prepare", "sum_tiles", "scan_tiles", "read"});
            CHECK(ran.tally().combines == 5 * items);  // tiles of 64, 6, 64, 6 and 10 tokens
        }
        if (strategy == "tnt" && !is_matrix) {  // shards of 48, 48, 48 and 6
            CHECK(names_of(ran) == Names{"locals", "locals", "locals", "locals"});
            CHECK(ran.launches.front().info->grid.x == 2 * 5);  // of 11, 11, 11, 11 and 4 tokens
            CHECK(ran.tally().combines == 150 * items);
        }
        if (strategy == "tnt" && is_matrix)
            CHECK(names_of(ran) == Names{"locals", "global_step", "locals", "global_step", "locals",
                                         "global_step", "locals", "global_step"});
        if (strategy == "associative_scan") {
            CHECK(names_of(ran) == Names{"prepare", "tree"});
            // A tile of n tokens takes n - 1 joins up the tree, n - 1 down, and n leaves; there are five
            // tiles.
            CHECK(ran.tally().combines == items * (3 * 150 - 2 * 5));
        }
    }
}

TEST_CASE("a stopped pool stops every strategy within a block of tokens", "[memory][cpu]") {
    const auto parameters = parameters_with(usual_settings(any_rule()));
    const Arrays inputs = inputs_for(parameters);
    cpu::Pool pool(2);
    std::stop_source source;
    source.request_stop();
    pool.set_stop(source.get_token());
    for (const std::string& strategy : strategies_for(parameters)) {
        const Plan plan = plan_on_cpu(memory_family(), strategy, parameters, inputs);
        std::vector<LaunchRecord> launches;
        CHECK_FALSE(run_plan(plan, pool, Cache::hot, launches));
    }
    CHECK_FALSE(memory::reference(parameters, inputs, source.get_token()));
    if (!parameters.is("rule", "trellis"))  // which has no outputs at chunks
        CHECK_FALSE(memory::reference_at_chunks(parameters, inputs, true, source.get_token()));
}

}  // namespace
}  // namespace sawtooth

// Generated inputs, the necessary work, and the cases of `bench`.

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "kernels/core/common_parameters.h"
#include "kernels/core/fill.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/tensors.h"

namespace sawtooth::memory {
namespace {

// The standard deviation of a generated input. x is about as long as a normalised key: with a length of
// sqrt(d), trellis would diverge at the steps of the other rules.
double deviation_of(const std::string& name, double d) {
    if (name == "w_omega") return 1 / std::sqrt(2 * d);
    return name == "x" ? 1 / std::sqrt(d) : 1;
}

BenchCase bench_case(const std::string& rule, const std::string& what, std::vector<std::string> variants,
                     int64_t batch = 4, int64_t length = 1024, int64_t d = 64) {
    BenchCase bench;
    bench.name = fmt::format("{}{} [{}, {}, {}]", rule, what, batch, length, d);
    bench.values = {{"batch", batch}, {"length", length}, {"d", d}, {"rule", rule}};
    bench.variants = std::move(variants);
    return bench;
}

// A case with products in bf16, in the sizes of published measurements.
BenchCase gpu_case(const std::string& rule, int64_t batch, std::vector<std::string> variants,
                   int64_t length = 4096, int64_t d = 64) {
    BenchCase bench = bench_case(rule, " bf16", std::move(variants), batch, length, d);
    bench.values.insert(bench.values.end(),
                        {{"dtype", "bf16"}, {"precision", "bf16"}, {"chunk", int64_t{64}}});
    return bench;
}

BenchCase launch_case(const std::string& launch) {
    BenchCase bench = bench_case("delta", ", launch " + launch, {"sequential"}, 1);
    bench.values.emplace_back("launch", launch);
    bench.limit = BenchCase::Limit::launches;
    return bench;
}

void add_gpu_cases(std::vector<BenchCase>& cases) {
    for (const int64_t batch : {1, 16}) {
        cases.push_back(gpu_case("delta", batch, {"exact_chunk", "sequential_persistent"}));
        cases.push_back(gpu_case("titans", batch, {"chunkwise_gd"}));
    }
    for (const int64_t d : {64, 128}) cases.push_back(gpu_case("delta", 64, {"exact_chunk"}, 8192, d));
    for (const char* launch : {"sync", "graph", "graph_pdl"}) cases.push_back(launch_case(launch));
}

}  // namespace

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array = Array::uninitialised(spec.name, spec.dtype, spec.shape_for(parameters, so_far));
    if (spec.dtype == Dtype::int32) {  // omega_windows
        fill(array.as<int32_t>(), stop, [&] { return 1 + random.below(parameters.integer("omega_window")); });
        return array;
    }
    const auto values = array.as<float>();
    static const std::map<std::string, double> highest = {{"alpha", 0.02}, {"eta", 0.5}, {"theta", 0.1}};
    if (const auto gate = highest.find(spec.name); gate != highest.end()) {
        fill(values, stop, [&] { return random.uniform(0, gate->second); });
    } else {
        const double deviation = deviation_of(spec.name, static_cast<double>(parameters.integer("d")));
        fill(values, stop, [&] { return deviation * random.normal(); });
    }
    return array;
}

// What `levels` adds is not counted, as only some variants compute it.
Work work(const Parameters& parameters, const Arrays& inputs) {
    const Sizes sizes(parameters);
    const auto tokens = static_cast<double>(sizes.length);
    const UpdateRule& rule = *sizes.rule;
    const int64_t matrices = rule.has_second_state() ? 2 : 1;
    const int64_t w_omega = rule.reads_w_omega ? 2 * sizes.d * sizes.d : 0;
    const int64_t states = sizes.batch * sizes.d * matrices * sizes.state_rows();
    const int64_t slots = sizes.batch * sizes.slot_count * sizes.d;
    return {tokens * sizes.bytes_a_token() + 4 * static_cast<double>(w_omega + states + slots) +
                bytes_of_given(inputs, {"omega_windows", "m0", "s0", "sk0", "sv0"}),
            sizes.operations_of({0, sizes.length})};
}

std::vector<BenchCase> bench_cases(Backend backend) {
    BenchCase trellis_chunks = bench_case("trellis", ", frozen errors", {"chunkwise_gd"});
    trellis_chunks.values.emplace_back("chunk", int64_t{8});  // at 16 the error is larger than y
    std::vector<BenchCase> cases = {
        bench_case("delta", "", {"sequential", "sequential_persistent", "exact_chunk"}),
        bench_case("delta", ", frozen errors", {"chunkwise_gd", "associative_scan"}),
        bench_case("delta", ", shards", {"tnt"}),
        bench_case("titans", "", {"sequential", "sequential_persistent"}),
        bench_case("titans", ", frozen errors", {"chunkwise_gd", "associative_scan"}),
        bench_case("titans", ", shards", {"tnt"}),
        bench_case("hebbian", "", {"sequential_persistent", "chunkwise_gd", "associative_scan"}),
        bench_case("atlas", "",
                   {"sequential_persistent", "chunkwise_gd", "associative_scan", "atlas_parallel"}),
        bench_case("atlas_omega", "", {"sequential_persistent"}),
        bench_case("atlas_omega", ", frozen errors", {"chunkwise_gd", "associative_scan", "atlas_parallel"}),
        bench_case("lattice", "", {"sequential_persistent"}),
        bench_case("lattice", ", frozen gates", {"chunkwise_gd", "lattice_gla"}),
        bench_case("trellis", "", {"sequential_persistent"}),
        std::move(trellis_chunks),
        launch_case("stream"),
    };
    if (backend == Backend::cuda) add_gpu_cases(cases);
    return cases;
}

}  // namespace sawtooth::memory

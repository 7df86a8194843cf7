// What runs start from: generated inputs, the work that must be done, the cases of `bench`.

#include <cmath>

#include "kernels/memory/launches.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

// Calls next() for every value; looks at the token once in a while.
template <class Next>
void fill(std::span<float> values, const std::stop_token& stop, Next&& next) {
    for (size_t i = 0; i < values.size(); ++i) {
        if (i % (1 << 20) == 0 && stop.stop_requested()) return;
        values[i] = static_cast<float>(next());
    }
}

BenchCase bench_case(const std::string& rule, const std::string& what, std::vector<std::string> variants,
                     double tolerance) {
    BenchCase bench;
    bench.name = rule + what + " [4, 1024, 64]";
    bench.values = {{"batch", int64_t{4}}, {"length", int64_t{1024}}, {"d", int64_t{64}}, {"rule", rule}};
    bench.tolerance = tolerance;
    bench.variants = std::move(variants);
    return bench;
}

}  // namespace

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array = Array::uninitialised(spec.name, spec.dtype, spec.shape_for(parameters, so_far));
    const auto values = array.as<float>();
    const auto uniform_to = [&](double high) { fill(values, stop, [&] { return random.uniform(0, high); }); };
    if (spec.name == "alpha") {
        uniform_to(0.02);
    } else if (spec.name == "eta") {
        uniform_to(0.5);
    } else if (spec.name == "theta") {
        uniform_to(0.1);
    } else {
        const double inputs_of_w = 2 * static_cast<double>(parameters.integer("d"));
        const double deviation = spec.name == "w_omega" ? 1 / std::sqrt(inputs_of_w) : 1;
        fill(values, stop, [&] { return deviation * random.normal(); });
    }
    return array;
}

Work work(const Parameters& parameters) {
    const Job job = sizes_of(parameters);
    const auto tokens = static_cast<double>(job.length);
    const double state = 4 * static_cast<double>(job.batch * job.width) *
                         static_cast<double>(job.rule == UpdateRule::lattice   ? job.slot_count
                                             : job.rule == UpdateRule::trellis ? 2 * job.compress
                                                                               : job.width);
    return {tokens * bytes_a_token(job) + state, tokens * operations_a_token(job)};
}

// An approximation's distance from the exact rule is what it is, and not what a case can fail by: its limit
// lies at three times what was seen.
std::vector<BenchCase> bench_cases(Backend) {
    constexpr double exact = 1e-4;
    return {
        bench_case("delta", "", {"sequential", "sequential_persistent", "exact_chunk"}, exact),
        bench_case("delta", ", frozen errors", {"chunkwise_gd", "associative_scan", "tnt"}, 3),
        bench_case("titans", "", {"sequential", "sequential_persistent"}, exact),
        bench_case("titans", ", frozen errors", {"chunkwise_gd", "associative_scan", "tnt"}, 3),
        bench_case("hebbian", "", {"sequential_persistent", "chunkwise_gd", "associative_scan"}, exact),
        bench_case("atlas", "",
                   {"sequential_persistent", "chunkwise_gd", "associative_scan", "atlas_parallel"}, exact),
        bench_case("atlas_omega", "", {"sequential_persistent"}, exact),
        bench_case("atlas_omega", ", frozen errors", {"chunkwise_gd", "associative_scan", "atlas_parallel"},
                   3),
        bench_case("lattice", "", {"sequential_persistent"}, exact),
        bench_case("lattice", ", frozen gates", {"chunkwise_gd", "lattice_gla"}, 3),
        bench_case("trellis", "", {"sequential_persistent"}, exact),
        bench_case("trellis", ", frozen errors", {"chunkwise_gd"}, 3),
    };
}

}  // namespace sawtooth::memory

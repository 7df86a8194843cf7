// The minimum of work, what the hash table may add to it, and the cases of `bench`.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/parts.h"

namespace sawtooth::lut_sequence {
namespace {

struct Shapes {
    int64_t batch, length, inputs, outputs, detectors;
};

BenchCase bench_case(const Shapes& shapes, bool backward, const std::string& events,
                     std::vector<std::string> variants) {
    BenchCase bench;
    bench.name = fmt::format("{}, {} B {} S {} T {} C 4 P 4", backward ? "with backward" : "forward", events,
                             shapes.batch, shapes.length, shapes.detectors);
    bench.values = {{"batch", shapes.batch},
                    {"sequence_length", shapes.length},
                    {"inputs", shapes.inputs},
                    {"outputs", shapes.outputs},
                    {"detectors", shapes.detectors},
                    {"anchors_per_detector", int64_t{4}},
                    {"positional_bits", int64_t{4}},
                    {"events", events},
                    {"hash", "mixed"},
                    {"backward", backward}};
    bench.by_launch = true;
    bench.variants = std::move(variants);
    return bench;
}

}  // namespace

Work work(const Parameters& parameters, const Arrays& inputs) {
    const Sizes s(parameters);
    const auto positions = static_cast<double>(s.batch * s.length);
    const auto distances = static_cast<double>(s.distances() * s.detectors);
    const double position_bytes = 4 * positions * static_cast<double>(s.inputs + s.outputs);
    const double distance_bytes = 4 * distances * static_cast<double>(s.positional);
    const auto choices = static_cast<double>(s.batch * s.pairs() * s.detectors);
    Work work = lut_table::table_work(parameters, inputs, choices);
    work.bytes += (runs_backward(parameters) ? 2 : 1) * (position_bytes + distance_bytes) +
                  12 * (positions * static_cast<double>(s.detectors) + distances);
    // Comparisons of inputs, then a row number from the bits of every pair.
    work.operations += 2 * positions * static_cast<double>(s.detectors * s.anchors) + choices;
    return work;
}

// The most probes beyond one a key, if keys start at the sum of neuron and position. Those of a detector may
// all start at one slot, and keys that are more than the slots where they may start form one run.
double probes_of_crowded_table(const Parameters& parameters) {
    const Sizes s(parameters);
    if (!runs_backward(parameters) || s.mixed_hash) return 0;
    double of_detector = 0;  // keys, of a main event and two alternative ones a pair
    for (int64_t position = 1; position < s.length; ++position)
        of_detector += static_cast<double>(std::min(3 * position, s.rows));
    const auto detectors = static_cast<double>(s.detectors);
    const double keys = detectors * of_detector,
                 starts = detectors * static_cast<double>(s.rows) + static_cast<double>(s.length),
                 beyond = std::max(keys - starts, 0.0);
    return static_cast<double>(s.batch) * (detectors * of_detector * of_detector + keys * beyond) / 2;
}

// Only unfused has events.
std::vector<BenchCase> bench_cases(Backend backend) {
    const Shapes shapes = backend == Backend::cuda ? Shapes{8, 128, 256, 256, 32} : Shapes{4, 32, 64, 64, 8};
    std::vector<BenchCase> cases;
    for (const bool backward : {false, true}) {
        cases.push_back(bench_case(shapes, backward, "buffer", {}));
        cases.push_back(bench_case(shapes, backward, "statistic", {"unfused"}));
    }
    return cases;
}

}  // namespace sawtooth::lut_sequence

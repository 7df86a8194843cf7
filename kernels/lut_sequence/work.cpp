// The minimum of work, and the cases of `bench`.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_sequence/parts.h"

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
    bench.tolerance = 1e-5;
    bench.by_launch = true;
    bench.variants = std::move(variants);
    return bench;
}

}  // namespace

// Every array is read or written once; of the weights only the rows that all pairs together can touch. A
// generated neuron has half of `synapses_per_neuron` synapses on average.
Work work(const Parameters& parameters) {
    const Sizes s(parameters);
    const bool backward = runs_backward(parameters);
    const auto positions = static_cast<double>(s.batch * s.length);
    const auto pairs = static_cast<double>(s.batch * s.pairs() * s.detectors);
    const auto distances = static_cast<double>(s.distances() * s.detectors);
    const auto neurons = static_cast<double>(s.neurons());
    const double row = s.sparse ? static_cast<double>(parameters.integer("synapses_per_neuron")) / 2
                                : static_cast<double>(s.outputs);
    const double row_bytes = s.sparse ? 8 * row + 4 : 4 * row;  // with targets and an offset
    const double position_bytes = 4 * positions * static_cast<double>(s.inputs + s.outputs);
    const double distance_bytes = 4 * distances * static_cast<double>(s.positional);
    Work work;
    work.bytes = position_bytes + distance_bytes + 8 * static_cast<double>(s.detectors * s.anchors) +
                 12 * (positions * static_cast<double>(s.detectors) + distances) +
                 std::min(neurons, (backward ? 2 : 1) * pairs) * row_bytes;
    work.operations = 2 * positions * static_cast<double>(s.detectors * s.anchors) + pairs * row;
    if (!backward) return work;
    work.bytes += position_bytes + distance_bytes + 4 * neurons * row;
    work.operations += pairs * 6 * row;
    if (parameters.is("gradient_policy", "internal")) {
        work.bytes += 4 * neurons * row;
        work.operations += neurons * row;
    }
    return work;
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

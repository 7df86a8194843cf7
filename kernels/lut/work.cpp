// The minimum of work, and the cases of `bench`.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

BenchCase bench_case(bool backward, int64_t batch, const std::string& connectivity,
                     const std::string& arithmetic) {
    BenchCase bench;
    bench.name = fmt::format("{}, {} {} B {} T 256 C 8", backward ? "with backward" : "forward", connectivity,
                             arithmetic, batch);
    bench.values = {{"batch", batch},
                    {"detectors", int64_t{256}},
                    {"anchors_per_detector", int64_t{8}},
                    {"inputs", int64_t{512}},
                    {"outputs", int64_t{256}},
                    {"synapses_per_neuron", int64_t{32}},
                    {"connectivity", connectivity},
                    {"arithmetic", arithmetic},
                    {"backward", backward}};
    bench.by_launch = true;
    return bench;
}

}  // namespace

Work work(const Parameters& parameters, const Arrays& inputs) {
    const Sizes s(parameters);
    const auto pairs = static_cast<double>(s.batch * s.detectors);
    const auto item_bytes = 4 * static_cast<double>(s.batch * (s.inputs + s.outputs));
    Work work = table_work(parameters, inputs, pairs);
    work.bytes += (runs_backward(parameters) ? 2 : 1) * item_bytes + 12 * pairs;
    work.operations += 2 * pairs * static_cast<double>(s.anchors);
    return work;
}

std::vector<BenchCase> bench_cases(Backend backend) {
    const bool on_cuda = backend == Backend::cuda;
    const int64_t batch = on_cuda ? 4096 : 256, less = batch / 4;
    return {bench_case(false, batch, "full", "float"), bench_case(true, batch, "full", "float"),
            bench_case(true, less, "sparse", "float"), bench_case(true, less, "full", "integer")};
}

}  // namespace sawtooth::lut

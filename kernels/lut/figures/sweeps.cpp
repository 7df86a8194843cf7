// The sweeps of the family and their figures.

#include "kernels/lut/figures/sweeps.h"

#include <algorithm>
#include <utility>

#include "kernels/core/common_parameters.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/lut/family.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {

std::vector<Figure> size_figures(const SweepResult& sweep) {
    return lut_table::size_figures(sweep, lut_family());
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    SweepAxis anchors{"anchors_per_detector", {}};
    for (int64_t pairs = 2; pairs <= 10; pairs += 2) anchors.values.emplace_back(pairs);
    const SweepAxis arithmetic{"arithmetic", lut_family().parameter("arithmetic")->choices};
    std::vector<FigureSweep> all;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        const bool on_cpu = backend == Backend::cpu;
        std::vector<std::pair<std::string, Value>> shape;
        const auto at_most = [&](const char* name, int64_t most) {
            if (on_cpu) shape.emplace_back(name, std::min(parameters.integer(name), most));
        };
        at_most("batch", 64);
        at_most("inputs", 512);
        at_most("outputs", 64);
        all.push_back({"detectors",
                       "time against detectors",
                       {powers_of_two("detectors", 8, on_cpu ? 256 : 1024)},
                       shape,
                       {},
                       size_figures,
                       backend});
        at_most("detectors", 64);
        all.push_back({"anchors", "time against anchors", {anchors}, shape, {}, size_figures, backend});
        all.push_back(
            {"arithmetic", "float against integer", {arithmetic}, shape, {}, arithmetic_figures, backend});
    }
    return all;
}

}  // namespace sawtooth::lut

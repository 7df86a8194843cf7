#include "app/engine/sweep_effect.h"

#include "app/engine/configure.h"

namespace sawtooth {

std::vector<std::string> axes_without_effect(const Sweep& sweep) {
    std::vector<std::string> notes;
    const auto family = find_offered_family(sweep.base.family);
    if (!family || !sweep.base.input.empty()) return notes;
    const Backend backend = sweep.base.backend == BackendChoice::cpu ? Backend::cpu : Backend::cuda;
    for (const SweepAxis& axis : sweep.axes) {
        const Parameter& row = *(*family)->parameter(axis.parameter);
        std::string why;
        for (size_t index = 0; index < sweep.cells(); ++index) {
            const Parameters parameters = in_force(**family, sweep.request(index), {}, backend);
            why = why_unused(row, parameters, backend, sweep.base.arch);
            if (why.empty()) break;
        }
        if (!why.empty()) notes.push_back(row.name + " has no effect: " + why);
    }
    return notes;
}

}  // namespace sawtooth

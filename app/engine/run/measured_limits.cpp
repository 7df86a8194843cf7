#include "app/engine/run/measured_limits.h"

#include "app/engine/run/configure.h"

namespace sawtooth {

Outcome<std::vector<Ceilings>> measured_limits(Runner& runner, const Request& base, bool has_gpu,
                                               std::stop_token stop) {
    std::vector<Ceilings> limits;
    for (const BackendChoice backend : {BackendChoice::cpu, BackendChoice::cuda}) {
        if (backend == BackendChoice::cuda && !has_gpu) continue;
        Request request = base;
        request.backend = backend;
        const auto machine = runner.machine(request, *offered_families().front());
        if (!machine) return machine.error();
        auto measured = runner.ceilings(*machine, stop, true);
        if (!measured) return measured.error();
        limits.push_back(std::move(*measured));
    }
    return limits;
}

}  // namespace sawtooth

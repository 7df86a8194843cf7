#include "app/gui/state/effect.h"

#include "app/engine/run/configure.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/lab.h"

namespace sawtooth {

std::string reason_unused(const LabState& lab, const Parameter& row) {
    return why_unused(row, lab.parameters, backend_in_force(lab), lab.request.arch);
}

double last_value(const LabState& lab, const Parameter& row) { return row.last(lab.parameters); }

Request acting(const LabState& lab, Request request) {
    const Backend backend = backend_in_force(lab);
    // If a chip is chosen, kernels are compiled for CUDA.
    request.parameters = lab.family->acting(in_force(*lab.family, request, lab.given, backend),
                                            request.arch.empty() ? backend : Backend::cuda);
    request.preset.clear();  // its values are among them
    return request;
}

Request deciding(const LabState& lab, Request request) {
    request = acting(lab, std::move(request));
    for (const Parameter& row : lab.family->parameters)
        if (row.renews == Renews::figures) request.parameters.values.erase(row.name);
    return request;
}

bool shows_what_is_set(const LabState& lab) {
    if (!lab.result) return false;
    const Request now = request_of(lab);
    if (lab.result->request == now) return true;
    Request shown = deciding(lab, lab.result->request);
    shown.time_limit_seconds = now.time_limit_seconds;
    return shown == deciding(lab, now);
}

}  // namespace sawtooth

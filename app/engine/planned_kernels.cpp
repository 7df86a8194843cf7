#include "app/engine/planned_kernels.h"

#include "app/engine/check/draw.h"

namespace sawtooth {

PlannedKernels::PlannedKernels(const Chip& chip) {
    if (chip.backend == Backend::cpu) return;
    if (auto device = cuda::Device::theory(chip.architecture, {})) device_ = std::move(*device);
}

std::vector<std::string> PlannedKernels::of(const Family& family, const Variant& variant,
                                            const Request& request) const {
    if (!device_) return {};
    const Parameters parameters = settled_values(family, request.parameters, Backend::cuda);
    auto plan = make_plan({.family = family,
                           .variant = variant,
                           .parameters = parameters,
                           .inputs = input_shapes(family, parameters, request.optional),
                           .dry = true,
                           .device = device_.get(),
                           .stores_extras = request.extras == Extras::all});
    return plan ? std::move(plan->kernels) : std::vector<std::string>();
}

}  // namespace sawtooth

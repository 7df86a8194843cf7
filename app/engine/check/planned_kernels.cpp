#include "app/engine/check/planned_kernels.h"

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
    Arrays inputs;
    for (const ArraySpec& row : family.arrays) {
        const bool given = row.role == Role::input || (row.role == Role::optional && request.optional);
        if (given && row.is_used(parameters))
            inputs.push_back(
                {row.name, row.dtype_with(parameters), row.shape_for(parameters, inputs), nullptr});
    }
    auto plan = make_plan({.family = family,
                           .variant = variant,
                           .parameters = parameters,
                           .inputs = inputs,
                           .dry = true,
                           .device = device_.get(),
                           .stores_extras = request.extras == Extras::all});
    return plan ? std::move(plan->kernels) : std::vector<std::string>();
}

}  // namespace sawtooth

#include "app/engine/planned_kernels.h"

#include "app/engine/check/draw.h"

namespace sawtooth {
namespace {

std::string words_of(const PlannedKernel& kernel) {
    std::string words = kernel.file + " " + kernel.entry;
    for (const auto& [name, value] : kernel.defines) words += " " + name + "=" + value;
    return words;
}

}  // namespace

std::vector<PlannedKernel> planned_kernels(const Configuration& configuration, const Arrays& inputs,
                                           bool stores_extras, cuda::Device& device,
                                           const std::stop_token& stop) {
    std::vector<PlannedKernel> kernels;
    for (const Variant* variant : configuration.variants) {
        if (variant->refusal(configuration.parameters, device.chip())) continue;
        const auto plan = make_plan({.family = *configuration.family,
                                     .variant = *variant,
                                     .parameters = configuration.parameters,
                                     .inputs = inputs,
                                     .dry = true,
                                     .device = &device,
                                     .stores_extras = stores_extras,
                                     .stop = stop});
        if (plan) kernels.insert(kernels.end(), plan->kernels.begin(), plan->kernels.end());
    }
    return kernels;
}

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
    std::vector<std::string> all;
    if (plan)
        for (const PlannedKernel& kernel : plan->kernels) all.push_back(words_of(kernel));
    return all;
}

}  // namespace sawtooth

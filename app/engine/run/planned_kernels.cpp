#include "app/engine/run/planned_kernels.h"

#include "app/engine/check/draw.h"

namespace sawtooth {
namespace {

std::string words_of(const PlannedKernel& kernel) {
    std::string words = kernel.file + " " + kernel.entry;
    for (const auto& [name, value] : kernel.defines) words += " " + name + "=" + value;
    return words;
}

std::vector<PlannedKernel> kernels_of(PlanRequest request) {
    request.dry = true;
    auto plan = make_plan(request);
    return plan ? std::move(plan->kernels) : std::vector<PlannedKernel>();
}

}  // namespace

std::vector<PlannedKernel> planned_kernels(const Configuration& configuration, const Arrays& inputs,
                                           bool stores_extras, cuda::Device& device,
                                           const std::stop_token& stop) {
    std::vector<PlannedKernel> kernels;
    const Chip chip = planned_chip(device.chip(), configuration.multiprocessors);
    for (const Variant* variant : configuration.variants) {
        if (variant->refusal(configuration.parameters, chip)) continue;
        for (PlannedKernel& kernel : kernels_of({.family = *configuration.family,
                                     .variant = *variant,
                                     .parameters = configuration.parameters,
                                     .inputs = inputs,
                                     .device = &device,
                                     .multiprocessors = configuration.multiprocessors,
                                     .stores_extras = stores_extras,
                                     .stop = stop}))
            kernels.push_back(std::move(kernel));
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
    std::vector<std::string> all;
    for (const PlannedKernel& kernel : kernels_of({.family = family,
                                       .variant = variant,
                                       .parameters = parameters,
                                       .inputs = input_shapes(family, parameters, request.optional),
                                       .device = device_.get(),
                                       .multiprocessors = request.multiprocessors,
                                       .stores_extras = request.extras == Extras::all}))
        all.push_back(words_of(kernel));
    return all;
}

}  // namespace sawtooth

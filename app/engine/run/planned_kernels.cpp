#include "app/engine/run/planned_kernels.h"

#include <algorithm>

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

Outcome<Plan> PlannedKernels::dry_plan(const Family& family, const Variant& variant,
                                       const Request& request) const {
    const Parameters parameters = settled_values(family, request.parameters, Backend::cuda);
    return make_plan({.family = family,
                      .variant = variant,
                      .parameters = parameters,
                      .inputs = input_shapes(family, parameters, request.optional),
                      .dry = true,
                      .device = device_.get(),
                      .multiprocessors = request.multiprocessors,
                      .stores_extras = request.extras == Extras::all});
}

std::vector<std::string> PlannedKernels::of(const Family& family, const Variant& variant,
                                            const Request& request) const {
    std::vector<std::string> all;
    if (!device_) return all;
    if (const auto plan = dry_plan(family, variant, request))
        for (const PlannedKernel& kernel : plan->kernels) all.push_back(words_of(kernel));
    return all;
}

bool PlannedKernels::depends_on_multiprocessors(const Family& family, const Variant& variant,
                                                const Request& request) const {
    if (!device_ || request.multiprocessors == 0) return false;
    Request on_all = request;
    on_all.multiprocessors = 0;
    const auto few = dry_plan(family, variant, request), all = dry_plan(family, variant, on_all);
    if (!few || !all || few->launches.size() != all->launches.size()) return true;
    for (size_t i = 0; i < few->launches.size(); ++i)
        if (few->launches[i].info->grid != all->launches[i].info->grid) return true;
    const auto same_words = [](const PlannedKernel& one, const PlannedKernel& other) {
        return words_of(one) == words_of(other);
    };
    return !std::ranges::equal(few->kernels, all->kernels, same_words);
}

}  // namespace sawtooth

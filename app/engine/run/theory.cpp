#include "app/engine/run/theory.h"

#include <algorithm>

#include "app/engine/run/planned_kernels.h"
#include "kernels/cuda/occupancy.h"

namespace sawtooth {
namespace {

bool same_kind(const CompiledLaunch& a, const CompiledLaunch& b) {
    return a.launch == b.launch && a.resources.registers == b.resources.registers &&
           a.resources.shared_bytes == b.resources.shared_bytes &&
           a.resources.spill_bytes == b.resources.spill_bytes && a.threads == b.threads &&
           a.occupancy.theoretical == b.occupancy.theoretical;
}

// The row of the variant; inserted in the family's order if there is none.
VariantResult& row_of(const Variant& variant, const Family& family, Result& result) {
    const int index = static_cast<int>(&variant - family.variants.data());
    auto place = std::find_if(result.variants.begin(), result.variants.end(),
                              [&](const VariantResult& row) { return row.index >= index; });
    if (place != result.variants.end() && place->index == index) return *place;
    VariantResult row;
    row.name = variant.name;
    row.index = index;
    row.refused = "CUDA only; this run used the CPU";
    return *result.variants.insert(place, std::move(row));
}

}  // namespace

std::vector<CompiledLaunch> compiled_launches(const Plan& plan, const Chip& chip) {
    std::vector<CompiledLaunch> kinds;
    const LaunchInfo* last = nullptr;
    for (const Launch& launch : plan.launches) {
        const LaunchInfo& info = *launch.info;
        if (!info.resources || &info == last) continue;
        last = &info;
        const int64_t threads = info.block.x * info.block.y * info.block.z;
        CompiledLaunch kind{info.name, chip.architecture, *info.resources,
                            cuda::theoretical_occupancy(chip, threads, *info.resources), threads};
        if (std::none_of(kinds.begin(), kinds.end(),
                         [&](const auto& other) { return same_kind(kind, other); }))
            kinds.push_back(std::move(kind));
    }
    return kinds;
}

void add_theory(const Configuration& for_cuda, const Arrays& inputs, cuda::Device& device,
                const std::stop_token& stop, Result& result) {
    const Chip& chip = device.chip();
    device.compile_together(planned_kernels(for_cuda, inputs, false, device, stop), stop);
    for (const Variant* variant : for_cuda.variants) {
        VariantResult& row = row_of(*variant, *for_cuda.family, result);
        const auto leave_out = [&](const std::string& reason) {
            result.notes.push_back(variant->name + " skipped for " + chip.architecture + ": " + reason);
        };
        const auto refusal =
            variant->refusal(for_cuda.parameters, planned_chip(chip, for_cuda.multiprocessors));
        if (refusal) {
            leave_out(*refusal);
            continue;
        }
        const auto plan = make_plan({.family = *for_cuda.family,
                                     .variant = *variant,
                                     .parameters = for_cuda.parameters,
                                     .inputs = inputs,
                                     .device = &device,
                                     .multiprocessors = for_cuda.multiprocessors,
                                     .stop = stop});
        if (stop.stop_requested()) return;
        if (plan)
            row.compiled = compiled_launches(*plan, chip);
        else
            leave_out(plan.error().text);
    }
}

}  // namespace sawtooth

#include "app/engine/run/limit_plans.h"

#include <algorithm>
#include <memory>

#include "kernels/cpu/limits.h"
#include "profiling/ceilings_gpu.h"

namespace sawtooth {
namespace {

float* filled(Plan& plan, int64_t count) {
    const int64_t bytes = count * static_cast<int64_t>(sizeof(float));
    const std::shared_ptr<std::byte[]> memory = allocate(bytes);
    plan.memory.push_back(memory);
    plan.buffers.emplace_back(memory.get(), static_cast<size_t>(bytes));
    auto* const values = reinterpret_cast<float*>(memory.get());
    std::fill_n(values, count, 1.0f);
    return values;
}

std::shared_ptr<const LaunchInfo> named(const char* name) {
    auto info = std::make_shared<LaunchInfo>();
    info->name = name;
    return info;
}

Plan triad_plan(double bytes) {
    Plan plan;
    const auto count = static_cast<int64_t>(bytes / 12);
    float *const left = filled(plan, count), *const right = filled(plan, count),
                 *const to = filled(plan, count);
    plan.launches.push_back(
        {named("triad"), [=](Queue& queue) { cpu::triad(*queue.pool, left, right, to, count); }});
    return plan;
}

Plan products_plan(double operations) {
    Plan plan;
    plan.launches.push_back(
        {named("products"), [=](Queue& queue) { cpu::multiply_add(*queue.pool, operations); }});
    return plan;
}

Plan empty_launches_plan(size_t count) {
    Plan plan;
    plan.launches.assign(count, {named("empty launches"), [](Queue& queue) {
                                     queue.pool->dispatch(queue.pool->threads(), cpu::Split::contiguous,
                                                          [](const cpu::Item&) {});
                                 }});
    return plan;
}

}  // namespace

Outcome<Plan> copy_plan(const Machine& machine, double bytes) {
    if (cuda::Device* const device = machine.device())
        return copy_plan(*device, std::max<int64_t>(1, static_cast<int64_t>(bytes / 2)));
    Plan plan;
    const auto count = static_cast<int64_t>(bytes / 8);
    float *const from = filled(plan, count), *const to = filled(plan, count);
    plan.launches.push_back({named("copy"), [=](Queue& queue) { cpu::copy(*queue.pool, from, to, count); }});
    return plan;
}

Outcome<Plan> limit_plan(const Machine& machine, BenchCase::Limit limit, const Work& work,
                         const Plan& measured) {
    cuda::Device* const device = machine.device();
    if (limit == BenchCase::Limit::products)
        return device ? products_plan(*device, work.operations) : products_plan(work.operations);
    if (limit == BenchCase::Limit::launches)
        return device ? empty_launches_plan(*device, measured.launches.size(), measured.follow)
                      : empty_launches_plan(measured.launches.size());
    if (limit == BenchCase::Limit::triad && !device) return triad_plan(work.bytes);
    return copy_plan(machine, work.bytes);
}

}  // namespace sawtooth

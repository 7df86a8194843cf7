#include "kernels/memory/launches.h"

namespace sawtooth::memory {

std::shared_ptr<const LaunchInfo> describe(std::string name, std::string meaning, int64_t items,
                                           std::string formula, std::vector<ArrayUse> reads,
                                           std::vector<ArrayUse> writes, Work work) {
    auto info = std::make_shared<LaunchInfo>();
    info->name = std::move(name);
    info->meaning = std::move(meaning);
    info->grid = {items, 1, 1};
    info->grid_formula = std::move(formula);
    info->reads = std::move(reads);
    info->writes = std::move(writes);
    info->work = work;
    return info;
}

void add_launch(Plan& plan, std::shared_ptr<const LaunchInfo> info,
                std::function<void(const cpu::Item&)> work) {
    if (plan.dry) return;
    const int64_t items = info->grid.x;
    plan.launches.push_back({std::move(info), [items, work = std::move(work)](Queue& queue) {
                                 queue.pool->dispatch(items, cpu::Split::contiguous, work);
                             }});
}

std::vector<ArrayUse> tokens_read(const Job& job, int64_t tokens) {
    const Shape vectors = {job.batch, tokens, job.width}, gates = {job.batch, tokens};
    std::vector<ArrayUse> uses = {{"k", vectors}, {"v", vectors}, {"q", vectors}};
    if (job.x.length > 0) uses.push_back({"x", vectors});
    const Gates& given = job.memory.gates;
    if (given.alpha) uses.push_back({"alpha", gates});
    if (given.eta) uses.push_back({"eta", gates});
    if (given.theta) uses.push_back({"theta", gates});
    if (job.rule == UpdateRule::atlas) uses.push_back({"w_omega", {job.width, 2 * job.width}});
    return uses;
}

std::vector<ArrayUse> tokens_written(const Job& job, int64_t tokens) {
    return {{"y", {job.batch, tokens, job.width}}};
}

double operations_a_token(const Job& job) {
    const auto d = static_cast<double>(job.width), slots = static_cast<double>(job.slot_count),
               c = static_cast<double>(job.compress), window = static_cast<double>(job.memory.window);
    // A product with a matrix is 2 d^2, an update with decay 3 d^2, momentum 2 d^2 more.
    const double matrix = d * d;
    switch (job.rule) {
        case UpdateRule::titans:
            return static_cast<double>(job.batch) * 9 * matrix;
        case UpdateRule::delta:
            return static_cast<double>(job.batch) * 7 * matrix;
        case UpdateRule::hebbian:
            return static_cast<double>(job.batch) * 5 * matrix;
        case UpdateRule::atlas:
            return static_cast<double>(job.batch) * 11 * matrix;
        case UpdateRule::atlas_omega:
            return static_cast<double>(job.batch) * (4 * window + 5) * matrix;
        case UpdateRule::lattice:
            return static_cast<double>(job.batch) * 13 * slots * d;
        case UpdateRule::trellis:
            return static_cast<double>(job.batch) * 16 * c * d;
    }
    return 0;
}

double bytes_a_token(const Job& job) {
    const double vectors = (job.rule == UpdateRule::trellis ? 5 : 4) * static_cast<double>(job.width) *
                           static_cast<double>(cpu::bytes_of(job.y.precision));
    const double gates = job.rule == UpdateRule::lattice   ? 0
                         : job.rule == UpdateRule::hebbian ? 1
                         : job.memory.has_momentum         ? 3
                                                           : 2;
    return static_cast<double>(job.batch) * (vectors + 4 * gates);
}

}  // namespace sawtooth::memory

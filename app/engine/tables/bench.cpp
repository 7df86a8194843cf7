#include "app/engine/tables/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/engine/files/host_name.h"
#include "app/engine/guarded.h"
#include "app/engine/identity.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/limit_plans.h"
#include "app/engine/run/time_limit.h"
#include "app/engine/tables/main_launch.h"
#include "kernels/core/ceilings.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/counters.h"
#include "profiling/pairs.h"

namespace sawtooth {
namespace {

bool is_abandoned(const Machine& machine) { return machine.timer && machine.timer->abandoned(); }

int64_t positions_of(const Family& family, const Parameters& parameters) {
    const Parameter* const row = family.parameter(family.sequence_axis);
    return row ? parameters.integer(row->name) : 0;
}

// Steps are the limit if each position has its own launch, or if a single launch along the sequence leaves
// bytes and arithmetic nearly idle: each step waits for the previous one. Products do not wait for steps.
Bound bound_of(const BenchRow& row, const Plan& plan, const Result& result, const Family& family,
               const Variant& variant, BenchCase::Limit limit) {
    constexpr double nearly_idle = 0.05;
    const Ceilings ceilings = result.ceilings.value_or(Ceilings{});
    const double peak = peak_operations_per_second(ceilings, result.parameters);
    const int64_t positions = positions_of(family, result.parameters);
    const bool of_launches = limit == BenchCase::Limit::launches;
    const bool of_products = limit == BenchCase::Limit::products;
    const auto share = [&](double work, double rate) {
        return rate > 0 ? work / (row.time->median * 1e-6 * rate) : 0;
    };
    const double of_limit = 1 / row.ratio->median;
    const double of_bytes = of_launches   ? 0
                            : of_products ? share(result.work.bytes, ceilings.copy_bytes_per_second)
                                          : of_limit;
    const Work work = work_of(family, variant, result.parameters, result.inputs, plan);
    const double of_peak = of_products ? of_limit : share(work.operations, peak);
    Bound bound;
    if (positions > 0) {
        bound.step_us = row.time->median / static_cast<double>(positions);
        const double empty = of_launches ? row.limit->median / static_cast<double>(row.launches)
                                         : empty_launch_us(ceilings, plan.follow);
        if (empty > 0) bound.empty_launches = *bound.step_us / empty;
    }
    const bool waits = row.launches == 1 && std::max(of_bytes, of_peak) < nearly_idle;
    if (!of_products && positions > 1 && (waits || row.launches >= positions)) {
        bound.by = Bound::By::steps;
        return bound;
    }
    bound.by = of_peak > of_bytes ? Bound::By::arithmetic : Bound::By::bytes;
    bound.share = share_of_limit(std::max(of_peak, of_bytes), 1);
    return bound;
}

LaunchCost& cost_of(const LaunchInfo& info, std::vector<LaunchCost>& costs) {
    const auto same = std::find_if(costs.begin(), costs.end(), [&](const LaunchCost& cost) {
        return cost.name == info.name && cost.meaning == info.meaning;
    });
    if (same != costs.end()) return *same;
    return costs.emplace_back(LaunchCost{info.name, info.meaning});
}

Outcome<std::vector<LaunchCost>> measure_launches(const Plan& plan, const Machine& machine,
                                                  const Request& base, double copy_bytes_per_second,
                                                  const std::function<void()>& before_repeat) {
    std::vector<std::vector<LaunchRecord>> repeats;
    for (int repeat = 0; repeat < base.repeats; ++repeat) {
        before_repeat();
        auto launches = record_launches(plan, machine.executor(), base.cache);
        if (!launches) return launches.error();
        repeats.push_back(std::move(*launches));
    }
    return costs_of(repeats, copy_bytes_per_second);
}

// Fills in the times of a variant that passed the check, and the values that follow from them.
std::optional<Error> measure_row(const Result& result, const Variant& variant, const Machine& machine,
                                 const BenchCase& bench, const Request& base,
                                 const std::function<void()>& before_pair, BenchRow& row) {
    const Family& family = **find_offered_family(result.request.family);
    auto plan = make_plan({.family = family,
                           .variant = variant,
                           .parameters = result.parameters,
                           .inputs = result.inputs,
                           .device = machine.device(),
                           .workers = machine.workers()});
    if (!plan) return plan.error();
    auto limit = limit_plan(machine, bench.limit, result.work, *plan);
    if (!limit) return limit.error();
    const Executor on = machine.executor();
    auto pair = measure_pair({&*plan, on}, {&*limit, on}, base.cache, base.repeats, before_pair);
    Outcome<std::vector<LaunchCost>> costs = std::vector<LaunchCost>();
    if (pair && bench.by_launch)
        costs = measure_launches(*plan, machine, base,
                                 result.ceilings.value_or(Ceilings{}).copy_bytes_per_second, before_pair);
    // A launch is still using their memory; freeing it would wait forever.
    if (is_abandoned(machine)) new std::array<Plan, 2>{std::move(*plan), std::move(*limit)};
    if (!pair) return pair.error();
    if (!costs) return costs.error();
    row.costs = std::move(*costs);
    row.limit_name = limit->launches.front().info->name;
    row.launches = static_cast<int64_t>(plan->launches.size());
    std::vector<double> each;
    for (size_t i = 0; i < pair->first.samples.size(); ++i)
        each.push_back(pair->first.samples[i] / pair->second.samples[i]);
    const TimeStatistics ratios = statistics_of(std::move(each));
    row.time = std::move(pair->first);
    row.limit = std::move(pair->second);
    row.ratio = Spread{ratios.median, ratios.q1, ratios.q3};
    row.bound = bound_of(row, *plan, result, family, variant, bench.limit);
    return {};
}

// The rows of a case that could not run at all, for example for lack of memory.
std::vector<BenchRow> rows_without_time(const Family& family, const BenchCase& bench,
                                        const std::string& reason) {
    std::vector<BenchRow> rows;
    for (const Variant& variant : family.variants) {
        const bool named =
            std::find(bench.variants.begin(), bench.variants.end(), variant.name) != bench.variants.end();
        if (!named && !bench.variants.empty()) continue;
        BenchRow row;
        row.family = family.name;
        row.name = bench.name;
        row.variant = variant.name;
        row.note = reason;
        rows.push_back(std::move(row));
    }
    return rows;
}

// Times each variant with correct outputs; the rows of the others give the reason. An error means that
// nothing else can be measured.
Outcome<std::vector<BenchRow>> measure_rows(const Result& result, const Family& family,
                                            const Machine& machine, const BenchCase& bench,
                                            const Request& base, const OnProgress& progress) {
    std::vector<BenchRow> rows;
    for (const VariantResult& variant : result.variants) {
        BenchRow row;
        row.family = family.name;
        row.name = bench.name;
        row.variant = variant.name;
        row.parameters = result.parameters;
        row.errors = variant.errors;
        // No table shows them, and with millions of positions a worker could not send them.
        for (OutputError& error : row.errors) error.by_position.clear();
        row.verdict = variant.verdict();
        row.verdicts = variant.verdicts;
        row.counted = counted_words(variant, machine.chip.multiprocessors);
        if (!base.arch.empty()) row.compiled = variant.compiled;
        row.note = variant.ran() ? wrong_sentence(variant) : variant.refused;
        const auto before_pair = [&] {
            if (progress) progress({0, variant.name + " and its limit", true}, {});
        };
        if (row.note.empty()) {
            if (auto error = guarded([&] {
                    return measure_row(result, *family.variant(variant.name), machine, bench, base,
                                       before_pair, row);
                })) {
                const bool ends_all =
                    error->kind == Error::Kind::cancelled || cuda::is_fatal(*error) || is_abandoned(machine);
                if (ends_all) return *error;
                row.note = error->text;
            }
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

// Adds those notes that are new as "FAMILY: NOTE".
void add_notes(const Family& family, const std::vector<std::string>& notes, std::vector<std::string>& all) {
    for (const std::string& note : notes)
        if (std::string text = family.name + ": " + note;
            std::find(all.begin(), all.end(), text) == all.end())
            all.push_back(std::move(text));
}

Outcome<std::vector<BenchRow>> run_case(Runner& runner, const Family& family, const BenchCase& bench,
                                        const Request& base, std::stop_token stop, const OnProgress& progress,
                                        std::vector<std::string>& notes) {
    Request request = base;
    request.family = family.name;
    request.variants = bench.variants;
    request.parameters = {};
    for (const auto& [name, value] : bench.values) request.parameters.set(name, value);
    request.repeats = 1;
    request.extras = Extras::none;
    const auto outcome = runner.run(request, stop, progress);
    if (!outcome) {
        const Error& error = outcome.error();
        if (error.kind == Error::Kind::cancelled || runner.broken()) return error;
        return rows_without_time(family, bench, error.text);
    }
    const Result& result = **outcome;
    const auto machine = runner.machine(request, family);
    if (!machine) return machine.error();
    std::vector<std::string> news = result.notes;
    // Its notes are about the settings of the case.
    if (const auto fixed = configure(request, {}, machine->backend()))
        std::erase_if(news, [&](const std::string& note) {
            return std::find(fixed->notes.begin(), fixed->notes.end(), note) != fixed->notes.end();
        });
    add_notes(family, news, notes);
    TimeLimit limit(stop, base.time_limit_seconds);
    machine->set_stop(limit.token());
    auto rows = measure_rows(result, family, *machine, bench, base, progress);
    machine->set_stop(stop);
    if (!rows && rows.error().kind == Error::Kind::cancelled)
        if (const Error error = limit.reason(rows.error(), "timing " + bench.name);
            error.kind != Error::Kind::cancelled)
            rows = rows_without_time(family, bench, error.text);
    if (machine->timer && !is_abandoned(*machine)) machine->timer->stop_recording();
    return rows;
}

}  // namespace

std::string_view name_of(Bound::By by) {
    switch (by) {
        case Bound::By::bytes:
            return "bytes";
        case Bound::By::arithmetic:
            return "arithmetic";
        case Bound::By::steps:
            return "steps";
    }
    return "";
}

std::vector<LaunchCost> costs_of(const std::vector<std::vector<LaunchRecord>>& repeats,
                                 double copy_bytes_per_second) {
    constexpr double least_copy_us = 0.1;  // for fewer bytes the time says nothing about bandwidth
    std::vector<LaunchCost> costs;
    for (size_t repeat = 0; repeat < repeats.size(); ++repeat)
        for (const LaunchRecord& launch : repeats[repeat]) {
            LaunchCost& cost = cost_of(*launch.info, costs);
            cost.time.samples.resize(repeats.size());
            cost.time.samples[repeat] += launch.duration_us;
            if (repeat > 0) continue;
            ++cost.count;
            cost.bytes += launch.info->work.bytes;
        }
    for (LaunchCost& cost : costs) {
        cost.time = statistics_of(std::move(cost.time.samples));
        const double copy_us = copy_bytes_per_second > 0 ? 1e6 * cost.bytes / copy_bytes_per_second : 0;
        if (copy_us >= least_copy_us) cost.over_copy = cost.time.median / copy_us;
    }
    return costs;
}

std::string counted_words(const VariantResult& variant, int processors) {
    const LaunchRecord* const launch = main_launch(variant);
    const auto limit = launch ? limit_of(*launch, processors) : std::nullopt;
    return limit ? fmt::format("{}, {}: {}", launch->info->name, name_of(limit->by), limit->words) : "";
}

Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& names, const Request& base,
                               std::stop_token stop, const OnProgress& progress) {
    BenchReport report{"", today(), build_identity(), {}, {}, base.repeats, base.cache};
    struct Case {
        const Family* family;
        BenchCase bench;
    };
    std::vector<Case> cases;
    for (const Family* family : offered_families()) {
        if (!names.empty() && std::find(names.begin(), names.end(), family->name) == names.end()) continue;
        if (!family->bench_cases) continue;
        const auto machine = runner.machine(base, *family);
        if (!machine) return machine.error();
        if (report.device.empty()) report.device = machine->words;
        add_notes(*family, machine->notes, report.notes);
        for (BenchCase& bench : family->bench_cases(machine->backend()))
            cases.push_back({family, std::move(bench)});
    }
    for (size_t i = 0; i < cases.size(); ++i) {
        const auto& [family, bench] = cases[i];
        const double fraction = static_cast<double>(i) / static_cast<double>(cases.size());
        const std::string words = family->name + " " + bench.name;
        const auto say = [&](const Progress& now, auto) {
            if (progress) progress({fraction, words + ": " + now.words, now.excused}, {});
        };
        auto rows = run_case(runner, *family, bench, base, stop, say, report.notes);
        if (!rows && report.rows.empty()) return rows.error();
        if (!rows) {
            report.ended = rows.error();
            return report;
        }
        for (BenchRow& row : *rows) {
            row.device = report.device;
            row.host = host_name();
        }
        std::move(rows->begin(), rows->end(), std::back_inserter(report.rows));
    }
    return report;
}

}  // namespace sawtooth

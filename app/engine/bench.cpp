#include "app/engine/bench.h"

#include <algorithm>
#include <array>
#include <new>

#include "app/engine/devices.h"
#include "kernels/cpu/limits.h"
#include "profiling/ceilings_gpu.h"
#include "profiling/measure.h"

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

std::function<void(Queue&)> mover(Plan& plan, bool is_triad, double bytes) {
    const auto count = static_cast<int64_t>(bytes / (is_triad ? 12 : 8));
    float* const left = filled(plan, count);
    float* const right = is_triad ? filled(plan, count) : nullptr;
    float* const to = filled(plan, count);
    return [=](Queue& queue) {
        is_triad ? cpu::triad(*queue.pool, left, right, to, count) : cpu::copy(*queue.pool, left, to, count);
    };
}

void start_nothing(Queue& queue) {
    queue.pool->dispatch(queue.pool->threads(), cpu::Split::contiguous, [](const cpu::Item&) {});
}

// What a variant's plan is held against, done by the same threads; on a GPU bytes are copied.
Outcome<Plan> limit_plan(const Machine& machine, BenchCase::Limit limit, double bytes, const Plan& of) {
    const bool of_launches = limit == BenchCase::Limit::launches, is_triad = limit == BenchCase::Limit::triad;
    if (cuda::Device* const device = machine.device())
        return of_launches ? empty_launches_plan(*device, of.launches.size(), of.follow)
                           : copy_plan(*device, std::max<int64_t>(1, static_cast<int64_t>(bytes / 2)));
    Plan plan;
    auto info = std::make_shared<LaunchInfo>();
    info->name = of_launches ? "empty launches" : is_triad ? "triad" : "copy";
    if (of_launches)
        plan.launches.assign(of.launches.size(), {info, start_nothing});
    else
        plan.launches.push_back({info, mover(plan, is_triad, bytes)});
    return plan;
}

// Why the outputs of a variant cannot be trusted; "" where they can.
std::string failed_check(const VariantResult& variant, double tolerance) {
    for (const OutputError& error : variant.errors) {
        if (error.nonfinite > 0) return error.output + " holds values that are not finite";
        if (error.rel_l2 && *error.rel_l2 > tolerance)
            return error.output + " is off by " + short_number(*error.rel_l2) + ", relative L2";
    }
    return {};
}

bool is_abandoned(const Machine& machine) { return machine.timer && machine.timer->abandoned(); }

struct Pairs {
    std::vector<double> times, limits, ratios;
};

// The variant and its limit in turn.
Outcome<Pairs> measure_pairs(const Plan& plan, const Plan& limit, const Machine& machine, const Request& base,
                             const std::function<void()>& before_pair) {
    const Executor on = machine.executor();
    const auto of_plan = choose_timing(plan, on, base.cache, before_pair);
    if (!of_plan) return of_plan.error();
    const auto of_limit = choose_timing(limit, on, base.cache, before_pair);
    if (!of_limit) return of_limit.error();
    Pairs pairs;
    for (int repeat = -1; repeat < base.repeats; ++repeat) {  // the first one warms up
        before_pair();
        const auto time = run_plan(plan, on, base.cache, of_plan->by);
        if (!time) return time.error();
        const auto least = run_plan(limit, on, base.cache, of_limit->by);
        if (!least) return least.error();
        if (repeat < 0) continue;
        pairs.times.push_back(time->total_us);
        pairs.limits.push_back(least->total_us);
        pairs.ratios.push_back(time->total_us / least->total_us);
    }
    return pairs;
}

// Fills in time, limit and ratio of a variant that passed its check.
std::optional<Error> measure_row(const Result& result, const Variant& variant, const Machine& machine,
                                 const BenchCase& bench, const Request& base,
                                 const std::function<void()>& before_pair, BenchRow& row) try {
    auto plan = make_plan({.family = **find_offered_family(result.request.family),
                           .variant = variant,
                           .parameters = result.parameters,
                           .inputs = result.inputs,
                           .device = machine.device()});
    if (!plan) return plan.error();
    auto limit = limit_plan(machine, bench.limit, result.work.bytes, *plan);
    if (!limit) return limit.error();
    const auto pairs = measure_pairs(*plan, *limit, machine, base, before_pair);
    // What still runs uses their memory, and freeing it would wait for ever.
    if (is_abandoned(machine)) new std::array<Plan, 2>{std::move(*plan), std::move(*limit)};
    if (!pairs) return pairs.error();
    row.limit_name = limit->launches.front().info->name;
    row.launches = static_cast<int64_t>(plan->launches.size());
    row.time = statistics_of(pairs->times);
    row.limit = statistics_of(pairs->limits);
    const TimeStatistics ratios = statistics_of(pairs->ratios);
    row.ratio = Spread{ratios.median, ratios.q1, ratios.q3};
    return {};
} catch (const std::bad_alloc&) {
    return Error::failure("memory: the system gave none for this variant and its limit together");
}

// Of a case that could not run at all: too little memory, say.
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

// Every variant that ran, timed where its outputs are right; where that fails, the row says why. Errors:
// those after which nothing else can be measured.
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
        row.note = variant.ran() ? failed_check(variant, bench.tolerance) : variant.refused;
        const auto before_pair = [&] {
            if (progress) progress({0, variant.name + " beside its limit", true}, {});
        };
        if (row.note.empty()) {
            if (auto error = measure_row(result, *family.variant(variant.name), machine, bench, base,
                                         before_pair, row)) {
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

Outcome<std::vector<BenchRow>> run_case(Runner& runner, const Family& family, const BenchCase& bench,
                                        const Request& base, std::stop_token stop,
                                        const OnProgress& progress) {
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
    machine->set_stop(stop);
    auto rows = measure_rows(result, family, *machine, bench, base, progress);
    if (machine->timer && !is_abandoned(*machine)) machine->timer->stop_recording();
    return rows;
}

}  // namespace

Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& names, const Request& base,
                               std::stop_token stop, const OnProgress& progress) {
    BenchReport report{"", today(), SAWTOOTH_VERSION, {}};
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
        for (const std::string& note : machine->notes) report.notes.push_back(family->name + ": " + note);
        for (BenchCase& bench : family->bench_cases(machine->backend()))
            cases.push_back({family, std::move(bench)});
    }
    for (size_t i = 0; i < cases.size(); ++i) {
        const auto& [family, bench] = cases[i];
        const double fraction = static_cast<double>(i) / static_cast<double>(cases.size());
        const std::string words = family->name + " " + bench.name;
        const auto say = [&](const Progress& now, auto) {
            if (progress) progress({fraction, words + ": " + now.words, now.timed}, {});
        };
        auto rows = run_case(runner, *family, bench, base, stop, say);
        if (!rows) return rows.error();
        std::move(rows->begin(), rows->end(), std::back_inserter(report.rows));
    }
    return report;
}

Table bench_table(const BenchReport& report) {
    Table table;
    table.columns = {{"case", "", false}, {"limit", "", false}};
    std::vector<std::string> variants;
    for (const BenchRow& row : report.rows)
        if (std::find(variants.begin(), variants.end(), row.variant) == variants.end())
            variants.push_back(row.variant);
    for (const std::string& variant : variants) table.columns.push_back({variant, "x limit", true});
    std::string present;
    for (const BenchRow& row : report.rows) {
        const std::string name = row.family + " " + row.name;
        if (name != present) {
            table.rows.emplace_back(table.columns.size());
            table.rows.back()[0] = present = name;
        }
        std::vector<std::string>& cells = table.rows.back();
        if (row.limit && cells[1].empty()) cells[1] = row.limit_name + " " + short_time(row.limit->median);
        const auto column = std::find(variants.begin(), variants.end(), row.variant) - variants.begin();
        char text[64];
        if (row.ratio)
            std::snprintf(text, sizeof text, "%.2f (%.2f to %.2f)", row.ratio->median, row.ratio->q1,
                          row.ratio->q3);
        cells[2 + static_cast<size_t>(column)] = row.ratio ? text : "failed: " + row.note;
    }
    return table;
}

}  // namespace sawtooth

#include "app/engine/bench.h"

#include <algorithm>

#include "app/engine/devices.h"
#include "kernels/cpu/limits.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

// A copy or a triad that moves as many bytes as the case must, by the same threads.
class LimitPlan {
  public:
    LimitPlan(BenchCase::Limit limit, double bytes) {
        const bool is_triad = limit == BenchCase::Limit::triad;
        const auto count = static_cast<int64_t>(bytes / (is_triad ? 12 : 8));
        float* const left = filled(count);
        float* const right = is_triad ? filled(count) : nullptr;
        float* const to = filled(count);
        auto info = std::make_shared<LaunchInfo>();
        info->name = is_triad ? "triad" : "copy";
        plan_.launches.push_back({info, [=](Queue& queue) {
                                      is_triad ? cpu::triad(*queue.pool, left, right, to, count)
                                               : cpu::copy(*queue.pool, left, to, count);
                                  }});
    }
    const Plan& plan() const { return plan_; }
    const std::string& name() const { return plan_.launches.front().info->name; }

  private:
    float* filled(int64_t count) {
        float* const values = plan_.take<float>(count);
        std::fill_n(values, count, 1.0f);
        return values;
    }
    Plan plan_;
};

std::optional<double> once_us(const Plan& plan, cpu::Pool& pool, Cache cache) {
    std::vector<LaunchRecord> records;
    if (!run_plan(plan, pool, cache, records)) return {};
    return elapsed_us(pool);
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

struct Pairs {
    std::vector<double> times, limits, ratios;
};

// The variant and its limit in turn; nothing when stopped.
std::optional<Pairs> measure_pairs(const Plan& plan, const LimitPlan& limit, cpu::Pool& pool,
                                   const Request& base) {
    Pairs pairs;
    for (int repeat = -1; repeat < base.repeats; ++repeat) {  // the first one warms up
        const auto time = once_us(plan, pool, base.cache), least = once_us(limit.plan(), pool, base.cache);
        if (!time || !least) return {};
        if (repeat < 0) continue;
        pairs.times.push_back(*time);
        pairs.limits.push_back(*least);
        pairs.ratios.push_back(*time / *least);
    }
    return pairs;
}

Outcome<std::vector<BenchRow>> run_case(Runner& runner, const Family& family, const BenchCase& bench,
                                        const Request& base, std::stop_token stop) {
    Request request = base;
    request.family = family.name;
    request.parameters = {};
    for (const auto& [name, value] : bench.values) request.parameters.set(name, value);
    request.variants = bench.variants;
    request.repeats = 1;
    request.extras = Extras::none;
    const auto outcome = runner.run(request, stop);
    if (!outcome) return outcome.error();
    const Result& result = **outcome;

    cpu::Pool& pool = runner.pool(base.threads);
    pool.set_stop(stop);
    const LimitPlan limit(bench.limit, result.work.bytes);
    std::vector<BenchRow> rows;
    for (const VariantResult& variant : result.variants) {
        BenchRow row{family.name,  bench.name, variant.name, result.parameters, {},
                     limit.name(), {},         {},           variant.errors,    variant.refused};
        if (row.note.empty()) row.note = failed_check(variant, bench.tolerance);
        if (row.note.empty()) {
            const Plan plan = family.variant(variant.name)->plan_cpu({result.parameters, result.inputs});
            const auto pairs = measure_pairs(plan, limit, pool, base);
            if (!pairs) return Error::cancelled();
            row.time = statistics_of(pairs->times);
            row.limit = statistics_of(pairs->limits);
            const TimeStatistics ratios = statistics_of(pairs->ratios);
            row.ratio = Spread{ratios.median, ratios.q1, ratios.q3};
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

Outcome<BenchReport> run_bench(Runner& runner, const std::vector<std::string>& names, const Request& base,
                               std::stop_token stop, const OnProgress& progress) {
    BenchReport report{cpu_words(runner.pool(base.threads).threads()), today(), SAWTOOTH_VERSION, {}};
    std::vector<std::pair<const Family*, BenchCase>> cases;
    for (const Family* family : offered_families()) {
        if (!names.empty() && std::find(names.begin(), names.end(), family->name) == names.end()) continue;
        if (!family->bench_cases) continue;
        for (BenchCase& bench : family->bench_cases(Backend::cpu))
            cases.emplace_back(family, std::move(bench));
    }
    for (size_t i = 0; i < cases.size(); ++i) {
        const auto& [family, bench] = cases[i];
        if (progress)
            progress(
                {static_cast<double>(i) / static_cast<double>(cases.size()), family->name + " " + bench.name},
                {});
        auto rows = run_case(runner, *family, bench, base, stop);
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

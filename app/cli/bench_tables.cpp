#include "app/cli/bench_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/terminal.h"
#include "app/engine/tables/tables.h"
#include "kernels/figures/comparison.h"

namespace sawtooth::cli {
namespace {

constexpr const char* legend =
    "limit: bytes, share of the bandwidth of a copy measured alongside (triad for two input arrays); "
    "arithmetic, share of the measured peak (of products measured alongside, where it is the limit); step, "
    "for steps that wait for one another, the time per "
    "position and the number of empty launches it equals.";

constexpr const char* launch_legend =
    "by launch: recorded in repeats of their own; bytes that the launch must read and write, the rate at "
    "which it moves them, and its time over that of a copy of as many bytes at the measured bandwidth.";

// "sum [4, 2048, 512]" becomes "sum 4x2048x512".
std::string short_case(const std::string& name) {
    const size_t open = name.find('['), close = name.rfind(']');
    if (open == std::string::npos || close == std::string::npos) return name;
    std::string sizes;
    for (const char c : name.substr(open + 1, close - open - 1))
        if (c != ' ') sizes += c == ',' ? 'x' : c;
    return name.substr(0, open) + sizes + name.substr(close + 1);
}

// "1.51 ms ±2%": median, and half the distance between the quartiles; "1.51 ms unstable: 3x" if they lie
// apart. One repeat has no spread.
std::string spread_words(const TimeStatistics& time) {
    if (time.samples.size() == 1) return short_time(time.median);
    if (const std::string badge = unstable_badge(time); !badge.empty())
        return short_time(time.median) + " " + badge;
    return fmt::format("{} ±{:.0f}%", short_time(time.median),
                       time.median > 0 ? 50 * (time.q3 - time.q1) / time.median : 0.0);
}

// "83", "1.0", "0.16", "0.07"
std::string short_ratio(double value) {
    if (value < 0.1) return fmt::format("{:.1g}", value);
    if (value < 0.995) return fmt::format("{:.2g}", value);
    return value < 9.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

// "bytes 83 %", "arithmetic 26 %", "above copy", "step 4.19 us 1.0x"
std::string limit_words(const Bound& bound) {
    if (bound.share) return fmt::format("{} {} %", name_of(bound.by), short_ratio(100 * *bound.share));
    if (bound.by == Bound::By::bytes) return "above copy";
    if (bound.by == Bound::By::arithmetic) return "above peak";
    const double us = bound.step_us.value_or(0);
    const std::string step = us < 1 ? fmt::format("step {:.3g} ns", 1e3 * us) : "step " + short_time(us);
    return bound.empty_launches ? fmt::format("{} {}x", step, short_ratio(*bound.empty_launches)) : step;
}

// The time divided by that of the limit, which took turns with it, and the confidence interval of this ratio;
// "" where they are unknown.
std::vector<std::string> ratio_cells(const BenchRow& row) {
    std::vector<std::string> cells(3);
    if (!row.time || !row.limit) return cells;
    const Comparison comparison = compare_in_turns(*row.limit, *row.time);
    const double numbers[] = {row.ratio ? row.ratio->median : comparison.ratio, comparison.low,
                              comparison.high};
    for (size_t i = 0; i < cells.size(); ++i)
        if (numbers[i] > 0 && std::isfinite(numbers[i])) cells[i] = short_number(numbers[i]);
    return cells;
}

// Where the row was measured: its host too if the report is of several.
std::string place_of(const BenchRow& row, const BenchReport& report) {
    const bool has_one_host = std::all_of(report.rows.begin(), report.rows.end(),
                                          [&](const BenchRow& other) { return other.host == row.host; });
    const std::string& device = row.device.empty() ? report.device : row.device;
    return has_one_host ? device : fmt::format("{} ({})", device, row.host);
}

std::vector<const BenchRow*> rows_of(const BenchReport& report, const std::string& family) {
    std::vector<const BenchRow*> rows;
    for (const BenchRow& row : report.rows)
        if (row.family == family) rows.push_back(&row);
    return rows;
}

Table table_of(const std::vector<const BenchRow*>& rows) {
    Table table;
    table.columns = {{"case", "", false}, {"variant", "", false}, {"time", ""}, {"limit", "", false}};
    for (const BenchRow* row : rows)
        table.rows.push_back({short_case(row->name), row->variant,
                              row->time ? spread_words(*row->time) : "failed",
                              row->bound ? limit_words(*row->bound) : ""});
    return table;
}

Table launch_table_of(const std::vector<LaunchCost>& costs) {
    Table table;
    table.columns = {{"launch", "", false}, {"time", ""}, {"bytes", ""}, {"GB/s", ""}, {"copy", ""}};
    for (const LaunchCost& cost : costs) {
        const auto rate = cost.gigabytes_per_second();
        table.rows.push_back({cost.count > 1 ? fmt::format("{} x {}", cost.count, cost.name) : cost.name,
                              spread_words(cost.time), short_bytes(cost.bytes),
                              rate ? short_ratio(*rate) : "",
                              cost.over_copy ? short_ratio(*cost.over_copy) + "x" : ""});
    }
    return table;
}

// One table per row measured by launch.
std::string launch_tables_of(const std::vector<const BenchRow*>& rows, std::string (Table::*drawn)() const) {
    std::string text;
    for (const BenchRow* row : rows)
        if (!row->costs.empty())
            text += "\n" +
                    wrapped(fmt::format("{}, {}, by launch:", short_case(row->name), row->variant),
                            bench_width, 2) +
                    "\n\n" + (launch_table_of(row->costs).*drawn)();
    return text;
}

// What was compiled for a chip beside the runs, one line per row.
std::string compiled_of(const std::vector<const BenchRow*>& rows, const std::string& before) {
    std::string text, architecture;
    for (const BenchRow* row : rows) {
        if (row->compiled.empty()) continue;
        architecture = row->compiled.front().architecture;
        const std::vector<std::string> words = compiled_words(row->compiled);
        text += wrapped(fmt::format("{}{}, {}: {} registers, {} B shared, {} B spilled, occupancy {} % ({})",
                                    before, short_case(row->name), row->variant, words[0], words[1], words[2],
                                    words[3], words[4]),
                        bench_width, 2) +
                "\n";
    }
    if (text.empty()) return "";
    return "\n" + wrapped(compiled_legend(architecture), bench_width, 2) + "\n" +
           (before.empty() ? "" : "\n") + text;
}

// What counters say of each row, one line each.
std::string counted_of(const std::vector<const BenchRow*>& rows, const std::string& before) {
    std::string text;
    for (const BenchRow* row : rows)
        if (!row->counted.empty())
            text += wrapped(fmt::format("{}{}, {}: {}", before, short_case(row->name), row->variant,
                                        row->counted),
                            bench_width, 2) +
                    "\n";
    if (text.empty()) return "";
    return std::string("\nlimits by counters of the main launch:\n") + (before.empty() ? "" : "\n") + text;
}

// One entry per row without a time.
std::string failures_of(const std::vector<const BenchRow*>& rows, const std::string& before) {
    std::string text;
    for (const BenchRow* row : rows)
        if (!row->time)
            text += wrapped(fmt::format("{}{}, {} failed: {}", before, short_case(row->name), row->variant,
                                        row->note),
                            bench_width, 2) +
                    "\n";
    return text;
}

std::vector<std::string> families_of(const BenchReport& report) {
    std::vector<std::string> families;
    for (const BenchRow& row : report.rows)
        if (families.empty() || families.back() != row.family) families.push_back(row.family);
    return families;
}

bool has_launches(const BenchReport& report) {
    return std::any_of(report.rows.begin(), report.rows.end(),
                       [](const BenchRow& row) { return !row.costs.empty(); });
}

}  // namespace

std::string bench_text(const BenchReport& report) {
    std::string text;
    for (const std::string& family : families_of(report)) {
        const auto rows = rows_of(report, family);
        text += wrapped(fmt::format("{} on {}: {}, caches {}", family, place_of(*rows.front(), report),
                                    report.repeats == 1 ? "one repeat"
                                                        : fmt::format("median of {} repeats", report.repeats),
                                    report.cache == Cache::cold ? "cold" : "hot"),
                        bench_width, 2) +
                "\n\n" + table_of(rows).plain() + failures_of(rows, "") + compiled_of(rows, "") +
                launch_tables_of(rows, &Table::plain) + counted_of(rows, "") + "\n";
    }
    if (text.empty()) return "no cases\n";
    text += wrapped(legend, bench_width, 0) + "\n";
    return has_launches(report) ? text + wrapped(launch_legend, bench_width, 0) + "\n" : text;
}

std::string bench_markdown(const BenchReport& report) {
    const auto families = families_of(report);
    std::string text;
    for (const std::string& family : families) {
        const auto rows = rows_of(report, family);
        const std::string failures = failures_of(rows, "- ");
        if (families.size() > 1) text += (text.empty() ? "### " : "\n### ") + family + "\n\n";
        text += table_of(rows).markdown() + (failures.empty() ? "" : "\n" + failures) +
                compiled_of(rows, "- ") + launch_tables_of(rows, &Table::markdown) + counted_of(rows, "- ");
    }
    return text;
}

Table bench_table(const BenchReport& report) {
    Table table;
    table.columns = {{"family", "", false},
                     {"case", "", false},
                     {"variant", "", false},
                     {"time", "us"},
                     {"q1", "us"},
                     {"q3", "us"},
                     {"bound by", "", false},
                     {"share", "%"},
                     {"step", "us"},
                     {"step", "empty launches"},
                     {"ratio to limit", ""},
                     {"ratio at least", ""},
                     {"ratio at most", ""},
                     {"stability", "", false},
                     {"failed", "", false},
                     {"measured", "", false},
                     {"on", "", false}};
    const bool is_counted = std::any_of(report.rows.begin(), report.rows.end(),
                                        [](const BenchRow& row) { return !row.counted.empty(); });
    const bool is_compiled = std::any_of(report.rows.begin(), report.rows.end(),
                                         [](const BenchRow& row) { return !row.compiled.empty(); });
    const bool by_launch = has_launches(report);
    if (is_compiled) {
        const auto columns = compiled_columns();
        table.columns.insert(table.columns.end(), columns.begin(), columns.end());
    }
    if (by_launch)
        table.columns.insert(table.columns.end(), {{"launch", "", false},
                                                   {"bytes", ""},
                                                   {"rate", "GB/s"},
                                                   {"over copy", ""},
                                                   {"meaning", "", false}});
    if (is_counted) table.columns.push_back({"counters", "", false});
    const auto number = [](const std::optional<double>& value, double scale = 1) {
        return value ? short_number(*value * scale) : "";
    };
    const auto start_of = [&](const BenchRow& row, const std::optional<TimeStatistics>& time) {
        const auto field = [&](double TimeStatistics::*member) {
            return time ? short_number((*time).*member) : "";
        };
        return std::vector<std::string>{row.family,
                                        row.name,
                                        row.variant,
                                        field(&TimeStatistics::median),
                                        field(&TimeStatistics::q1),
                                        field(&TimeStatistics::q3)};
    };
    const auto add = [&](std::vector<std::string> cells, std::vector<std::string> more) {
        cells.insert(cells.end(), more.begin(), more.end());
        cells.resize(table.columns.size());
        table.rows.push_back(std::move(cells));
    };
    for (const BenchRow& row : report.rows) {
        const Bound bound = row.bound.value_or(Bound{});
        std::vector<std::string> cells = {row.bound ? std::string(name_of(bound.by)) : "",
                                          number(bound.share, 100), number(bound.step_us),
                                          number(bound.empty_launches)};
        for (std::string& cell : ratio_cells(row)) cells.push_back(std::move(cell));
        cells.push_back(row.time ? unstable_badge(*row.time) : "");
        cells.insert(cells.end(), {row.note, report.date, place_of(row, report)});
        if (is_compiled)
            for (std::string& words : compiled_words(row.compiled)) cells.push_back(std::move(words));
        add(start_of(row, row.time), std::move(cells));
        if (is_counted) table.rows.back().back() = row.counted;
        for (const LaunchCost& cost : row.costs) {
            std::vector<std::string> launch(7);  // what a launch has no limit for
            launch.insert(launch.end(), {unstable_badge(cost.time), "", report.date, place_of(row, report)});
            if (is_compiled) launch.resize(launch.size() + compiled_columns().size());
            launch.insert(launch.end(),
                          {cost.name, fmt::format("{:.0f}", cost.bytes), number(cost.gigabytes_per_second()),
                           number(cost.over_copy), cost.meaning});
            add(start_of(row, cost.time), std::move(launch));
        }
    }
    return table;
}

}  // namespace sawtooth::cli

#include "app/engine/tables/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "app/engine/tables/main_launch.h"
#include "kernels/families.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/counters.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

struct TimeUnit {
    const char* name;
    double microseconds;
};

// The unit in which the longest of the times has one to three digits before the decimal point.
TimeUnit unit_for(const Result& result) {
    double longest = 0;
    for (const VariantResult& variant : result.variants)
        if (variant.time) longest = std::max(longest, variant.time->median);
    if (longest < 1e3) return {"us", 1};
    return longest < 1e6 ? TimeUnit{"ms", 1e3} : TimeUnit{"s", 1e6};
}

std::string number_or_nothing(const std::optional<double>& value) {
    return value ? short_number(*value) : "";
}

// The largest absolute error of the main output, like the other errors of a variant; absent if unknown.
std::optional<double> largest_absolute_error(const Result& result, const VariantResult& variant) {
    for (const OutputError& error : variant.errors)
        if (error.output == result.main_output) return error.max_abs;
    return {};
}

int64_t nonfinite_of(const VariantResult& variant) {
    int64_t count = 0;
    for (const OutputError& error : variant.errors) count += error.nonfinite;
    return count;
}

std::optional<double> bytes_per_second(const Work& work, const VariantResult& variant) {
    if (work.bytes <= 0 || !variant.time || variant.time->median <= 0) return {};
    return work.bytes / (variant.time->median * 1e-6);
}

std::string launches_of(const VariantResult& variant) {
    return variant.launch_count > 0 ? std::to_string(variant.launch_count) : "";
}

// The baseline of speed-ups: families list their plainest variant first.
const VariantResult* base_of(const Result& result) {
    for (const VariantResult& variant : result.variants)
        if (variant.time) return &variant;
    return nullptr;
}

// A column, and the function that gives its cell for a variant that ran.
struct Field {
    Table::Column column;
    std::function<std::string(const VariantResult&)> cell;
};

std::vector<Field> time_fields(const Result& result) {
    const TimeUnit unit = unit_for(result);
    const auto time = [unit](double TimeStatistics::*field) {
        return [unit, field](const VariantResult& v) {
            return v.time ? short_number((*v.time).*field / unit.microseconds) : "";
        };
    };
    return {{{"time", unit.name}, time(&TimeStatistics::median)},
            {{"q1", unit.name}, time(&TimeStatistics::q1)},
            {{"q3", unit.name}, time(&TimeStatistics::q3)}};
}

bool is_unstable(const VariantResult& variant) {
    return variant.time && !unstable_badge(*variant.time).empty();
}

std::vector<Field> speed_up_fields(const Result& result) {
    const VariantResult* base = base_of(result);
    if (!base || base->verdict() == Verdict::wrong || result.variants.size() < 2) return {};
    return {{{"speed-up", ""}, [&result, base](const VariantResult& v) {
                 if (!v.time || v.verdict() == Verdict::wrong) return std::string();
                 return &v == base ? "1x" : ratio_words(compare(result, v, *base));
             }}};
}

// One column per metric, in the order in which they first appear.
std::vector<Field> metric_fields(const Result& result) {
    std::vector<Field> fields;
    std::vector<std::string> seen;
    for (const VariantResult& variant : result.variants)
        for (const Metric& metric : variant.metrics) {
            if (std::find(seen.begin(), seen.end(), metric.id) != seen.end()) continue;
            seen.push_back(metric.id);
            // Built in two steps: in a single expression g++ 12 would destroy the column twice if there is no
            // memory.
            Field field{{metric.label, metric.unit}, {}};
            field.cell = [id = metric.id](const VariantResult& v) {
                for (const Metric& own : v.metrics)
                    if (own.id == id) return number_or_nothing(own.value);
                return std::string();
            };
            fields.push_back(std::move(field));
        }
    return fields;
}

std::string percent(std::optional<double> share) {
    return share ? std::to_string(std::lround(100 * *share)) : "";
}

std::string with_limiter(const Occupancy& occupancy) {
    const std::string share = percent(occupancy.theoretical);
    return share.empty() || occupancy.limiter.empty() ? share : share + ", " + occupancy.limiter;
}

std::vector<std::string> resource_words(const Resources& resources) {
    return {std::to_string(resources.registers), short_bytes(static_cast<double>(resources.shared_bytes)),
            short_bytes(static_cast<double>(resources.spill_bytes))};
}

// The columns on occupancy of a run on a GPU; achieved occupancy only if counters were read.
std::vector<Field> occupancy_fields(const Result& result) {
    bool known = false, achieved = false;
    for (const VariantResult& variant : result.variants)
        for (const LaunchRecord& launch : variant.launches) {
            known = known || launch.info->resources;
            achieved = achieved || launch.occupancy.achieved;
        }
    if (!known) return {};
    const auto field = [](Table::Column column, auto&& text) {
        return Field{std::move(column), [text](const VariantResult& variant) {
                         const LaunchRecord* launch = main_launch(variant);
                         return launch ? text(*launch) : std::string();
                     }};
    };
    std::vector<Field> fields = {
        field({"registers", ""},
              [](const LaunchRecord& l) { return std::to_string(l.info->resources->registers); }),
        field({"shared", ""},
              [](const LaunchRecord& l) {
                  return short_bytes(static_cast<double>(l.info->resources->shared_bytes));
              }),
        field({"occupancy", "%"}, [](const LaunchRecord& l) { return with_limiter(l.occupancy); })};
    if (achieved)
        fields.push_back(
            field({"achieved", "%"}, [](const LaunchRecord& l) { return percent(l.occupancy.achieved); }));
    return fields;
}

std::vector<Field> number_fields(const Result& result) {
    std::vector<Field> times = time_fields(result);
    std::vector<Field> fields = {std::move(times.front())};
    if (std::any_of(result.variants.begin(), result.variants.end(), is_unstable))
        fields.push_back({{"stability", "", false},
                          [](const VariantResult& v) { return v.time ? unstable_badge(*v.time) : ""; }});
    for (Field& field : speed_up_fields(result)) fields.push_back(std::move(field));
    fields.push_back({{"verdict", "", false}, verdict_words});
    fields.push_back({{"kernel error", ""}, [&result](const VariantResult& v) {
                          return number_or_nothing(kernel_error(result, v));
                      }});
    if (std::any_of(result.variants.begin(), result.variants.end(),
                    [](const VariantResult& v) { return v.ran() && !v.exact; }))
        fields.push_back({{"approximation", ""}, [&result](const VariantResult& v) {
                              return number_or_nothing(approximation_of(result, v));
                          }});
    std::move(times.begin() + 1, times.end(), std::back_inserter(fields));
    for (Field& field : metric_fields(result)) fields.push_back(std::move(field));
    fields.push_back({{"max abs error", ""}, [&result](const VariantResult& v) {
                          return number_or_nothing(largest_absolute_error(result, v));
                      }});
    if (std::any_of(result.variants.begin(), result.variants.end(), nonfinite_of))
        fields.push_back(
            {{"not finite", ""}, [](const VariantResult& v) { return std::to_string(nonfinite_of(v)); }});
    fields.push_back({{"launches", ""}, launches_of});
    fields.push_back({{"memory", ""}, [](const VariantResult& v) {
                          return short_bytes(static_cast<double>(v.memory_bytes));
                      }});
    for (Field& field : occupancy_fields(result)) fields.push_back(std::move(field));
    return fields;
}

std::string extent_text(const Extent& extent) {
    if (extent.z > 1) return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z);
    if (extent.y > 1) return fmt::format("{} x {}", extent.x, extent.y);
    return std::to_string(extent.x);
}

}  // namespace

Table measured_table(const Result& result) {
    const std::vector<Field> fields = number_fields(result);
    Table table;
    table.columns.push_back({"variant", "", false});
    for (const Field& field : fields) table.columns.push_back(field.column);
    for (const VariantResult& variant : result.variants) {
        if (!variant.ran()) continue;
        std::vector<std::string> row{variant.name};
        for (const Field& field : fields) row.push_back(field.cell(variant));
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table numbers_table(const Result& result) {
    Table table = measured_table(result);
    if (table.rows.size() == result.variants.size()) return table;
    table.columns.push_back({"skipped", "", false});
    auto row = table.rows.begin();
    for (const VariantResult& variant : result.variants) {
        if (!variant.ran()) row = table.rows.insert(row, {variant.name});
        row->resize(table.columns.size());
        row->back() = variant.refused;
        ++row;
    }
    return table;
}

std::vector<std::string> skipped_lines(const Result& result) {
    std::vector<std::string> lines;
    for (const VariantResult& variant : result.variants)
        if (!variant.ran()) lines.push_back(variant.name + " skipped: " + variant.refused);
    return lines;
}

std::vector<std::string> other_notes(const Result& result) {
    std::vector<std::string> notes;
    for (const std::string& note : result.notes) {
        const auto tells = [&](const VariantResult& variant) {
            return !variant.ran() && note.starts_with(variant.name + " ") && note.ends_with(variant.refused);
        };
        if (std::none_of(result.variants.begin(), result.variants.end(), tells)) notes.push_back(note);
    }
    // Those of a recording are not the repeats of its Request.
    std::vector<int> repeats;
    for (const VariantResult& variant : result.variants)
        if (variant.time) repeats.push_back(static_cast<int>(variant.time->samples.size()));
    if (repeats.size() < 2) return notes;
    const std::string few = few_repeats_words(*std::min_element(repeats.begin(), repeats.end()));
    if (!few.empty()) notes.push_back(few);
    return notes;
}

Table errors_table(const Result& result) {
    Table table;
    table.columns = {{"variant", "", false}, {"output", "", false}, {"max abs error", ""},
                     {"rel L2", ""},         {"not finite", ""},    {"first at", ""}};
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors)
            table.rows.push_back({variant.name, error.output, number_or_nothing(error.max_abs),
                                  number_or_nothing(error.rel_l2), std::to_string(error.nonfinite),
                                  error.first_nonfinite ? std::to_string(*error.first_nonfinite) : ""});
    return table;
}

Table launches_table(const VariantResult& variant, int processors) {
    const bool on_gpu = main_launch(variant) != nullptr;
    Table table;
    table.columns = {{"launch", "", false}, {"grid", ""},       {"block", ""},
                     {"start", "us"},       {"duration", "us"}, {"rate", "GB/s"}};
    if (on_gpu)
        table.columns.insert(
            table.columns.end(),
            {{"registers", ""}, {"shared", ""}, {"spilled", ""}, {"occupancy", "%"}, {"achieved", "%"}});
    const bool counted = std::any_of(variant.launches.begin(), variant.launches.end(),
                                     [](const LaunchRecord& launch) { return !launch.counters.empty(); });
    if (counted) table.columns.push_back({"limited by", "", false});
    table.columns.push_back({"meaning", "", false});
    for (const LaunchRecord& launch : variant.launches) {
        const LaunchInfo& info = *launch.info;
        const bool timed = launch.duration_us > 0;
        const bool rated = timed && info.work.bytes > 0;
        std::vector<std::string> row = {
            info.name,
            extent_text(info.grid),
            extent_text(info.block),
            short_number(launch.start_us),
            short_number(launch.duration_us),
            rated ? short_number(info.work.bytes / (launch.duration_us * 1e3)) : ""};
        if (on_gpu) {
            const auto words = info.resources ? resource_words(*info.resources) : std::vector<std::string>(3);
            row.insert(row.end(), words.begin(), words.end());
            row.push_back(with_limiter(launch.occupancy));
            row.push_back(percent(launch.occupancy.achieved));
        }
        if (counted) {
            const auto limit = limit_of(launch, processors);
            row.push_back(limit ? std::string(name_of(limit->by)) : "");
        }
        row.push_back(info.meaning);
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table compiled_table(const Result& result) {
    Table table;
    table.columns = {{"variant", "", false}, {"launch", "", false},    {"chip", "", false},
                     {"registers", ""},      {"shared", ""},           {"spilled", ""},
                     {"occupancy", "%"},     {"limited by", "", false}};
    for (const VariantResult& variant : result.variants)
        for (const CompiledLaunch& launch : variant.compiled) {
            std::vector<std::string> row = {variant.name, launch.launch, launch.architecture};
            const auto words = resource_words(launch.resources);
            row.insert(row.end(), words.begin(), words.end());
            row.push_back(percent(launch.occupancy.theoretical));
            row.push_back(launch.occupancy.limiter);
            table.rows.push_back(std::move(row));
        }
    return table;
}

std::vector<Table::Column> compiled_columns() {
    return {
        {"registers", ""}, {"shared", "B"}, {"spilled", "B"}, {"occupancy", "%"}, {"limited by", "", false}};
}

std::vector<std::string> compiled_words(const std::vector<CompiledLaunch>& launches) {
    if (launches.empty()) return std::vector<std::string>(compiled_columns().size());
    Resources most;
    const CompiledLaunch* lowest = &launches.front();
    for (const CompiledLaunch& launch : launches) {
        most.registers = std::max(most.registers, launch.resources.registers);
        most.shared_bytes = std::max(most.shared_bytes, launch.resources.shared_bytes);
        most.spill_bytes = std::max(most.spill_bytes, launch.resources.spill_bytes);
        if (launch.occupancy.theoretical < lowest->occupancy.theoretical) lowest = &launch;
    }
    return {std::to_string(most.registers), std::to_string(most.shared_bytes),
            std::to_string(most.spill_bytes), percent(lowest->occupancy.theoretical),
            lowest->occupancy.limiter};
}

std::string compiled_legend(const std::string& architecture) {
    return "registers, shared and spilled: the most of all launches compiled for " + architecture +
           "; occupancy: the lowest, in theory.";
}

Table sweep_table(const SweepResult& result) {
    Table table;
    const bool is_compiled = std::any_of(result.cells.begin(), result.cells.end(), [](const SweepCell& cell) {
        return cell.result && std::any_of(cell.result->variants.begin(), cell.result->variants.end(),
                                          [](const VariantResult& row) { return !row.compiled.empty(); });
    });
    for (const SweepAxis& axis : result.sweep.axes)
        for (const std::string& name : names_of(axis)) table.columns.push_back({name, ""});
    const std::vector<PlaceColumn> places = place_columns(result);
    for (const PlaceColumn& place : places) table.columns.push_back({place.name, "", false});
    table.columns.insert(table.columns.end(), {{"variant", "", false},
                                               {"time", "us"},
                                               {"q1", "us"},
                                               {"q3", "us"},
                                               {"stability", "", false},
                                               {"speed-up", ""},
                                               {"launches", ""},
                                               {"rate", "GB/s"},
                                               {"max abs error", ""},
                                               {"kernel error", ""},
                                               {"approximation", ""},
                                               {"verdict", "", false},
                                               {"wrong", "", false}});
    if (is_compiled) {
        const auto columns = compiled_columns();
        table.columns.insert(table.columns.end(), columns.begin(), columns.end());
    }
    table.columns.push_back({"skipped", "", false});
    for (const SweepCell& cell : result.cells) {
        if (is_missing(cell)) continue;
        std::vector<std::string> values;
        for (size_t a = 0; a < cell.values.size(); ++a)
            values.insert(values.end(), names_of(result.sweep.axes[a]).size(), to_text(cell.values[a]));
        for (const PlaceColumn& place : places) values.push_back(cell.result ? place.text(*cell.result) : "");
        if (!cell.result) {
            std::vector<std::string>& row = table.rows.emplace_back(values);
            row.resize(table.columns.size());
            row.back() = cell.refused;
            continue;
        }
        const std::vector<Field> speed_up = speed_up_fields(*cell.result);
        for (const VariantResult& variant : cell.result->variants) {
            const auto time = [&](double TimeStatistics::*field) {
                return variant.time ? short_number((*variant.time).*field) : "";
            };
            const auto rate = bytes_per_second(variant.work, variant);
            std::vector<std::string>& row = table.rows.emplace_back(values);
            row.insert(row.end(),
                       {variant.name, time(&TimeStatistics::median), time(&TimeStatistics::q1),
                        time(&TimeStatistics::q3), variant.time ? unstable_badge(*variant.time) : "",
                        speed_up.empty() ? "" : speed_up.front().cell(variant), launches_of(variant),
                        rate ? short_number(*rate / 1e9) : "",
                        number_or_nothing(largest_absolute_error(*cell.result, variant)),
                        number_or_nothing(kernel_error(*cell.result, variant)),
                        number_or_nothing(approximation_of(*cell.result, variant)), verdict_words(variant),
                        wrong_words(variant)});
            if (is_compiled) {
                const auto words = compiled_words(variant.compiled);
                row.insert(row.end(), words.begin(), words.end());
            }
            row.push_back(variant.refused);
        }
    }
    return table;
}

std::string words_of(const Ceilings& ceilings) {
    const std::string memory = fmt::format("copy {} GB/s, triad {} GB/s, arithmetic {} GFLOP/s",
                                           short_number(ceilings.copy_bytes_per_second / 1e9),
                                           short_number(ceilings.triad_bytes_per_second / 1e9),
                                           short_number(ceilings.operations_per_second / 1e9));
    std::string conditions = ceilings.date;
    if (!ceilings.driver.empty()) conditions += ", " + ceilings.driver;
    if (ceilings.clock_mhz > 0) conditions += fmt::format(", {:.0f} MHz", ceilings.clock_mhz);
    if (!ceilings.gpu)
        return fmt::format(
            "Limits of this machine with {} thread{}, measured {}: {}, an empty launch takes {}",
            ceilings.threads, ceilings.threads == 1 ? "" : "s", conditions, memory,
            short_time(ceilings.launch_us));
    std::string launches = fmt::format(
        "an empty launch takes {} with a wait, {} in a stream, {} in a graph", short_time(ceilings.launch_us),
        short_time(ceilings.gpu->launch_stream_us), short_time(ceilings.gpu->launch_graph_us));
    if (const auto time = ceilings.gpu->launch_programmatic_us)
        launches += fmt::format(", {} with programmatic dependent launch", short_time(*time));
    const double l2 = ceilings.gpu->l2_read_bytes_per_second;
    return fmt::format("Limits of {}, measured {}: {}, {}bf16 products {} TFLOP/s, {}", ceilings.processor,
                       conditions, memory,
                       l2 > 0 ? fmt::format("reads from L2 {} GB/s, ", short_number(l2 / 1e9)) : "",
                       short_number(ceilings.gpu->bf16_operations_per_second / 1e12), launches);
}

std::string short_words_of(const Clocks& clocks) {
    const std::string range = clocks.before_mhz == clocks.after_mhz
                                  ? fmt::format("{:.0f}", clocks.before_mhz)
                                  : fmt::format("{:.0f} to {:.0f}", clocks.before_mhz, clocks.after_mhz);
    return fmt::format("{} MHz of {:.0f}, {}", range, clocks.highest_mhz,
                       clocks.throttled.empty() ? "not throttled" : "throttled: " + clocks.throttled);
}

std::string sentence_of(const Clocks& clocks) { return "SM clock: " + short_words_of(clocks); }

}  // namespace sawtooth

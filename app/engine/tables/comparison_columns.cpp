#include "app/engine/tables/comparison_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/engine/tables/main_launch.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

struct Column {
    const char* name;
    // The cell of a variant that ran in both; "" if there is nothing to compare.
    std::function<std::string(const VariantResult&, const VariantResult& base)> cell;
};

// The two were measured one after the other, perhaps on different machines.
std::string time_cell(const VariantResult& variant, const VariantResult& base) {
    if (!has_speed(variant) || !has_speed(base)) return "";
    return pace_words(compare_apart(*variant.time, *base.time));
}

// The times for as many bytes.
TimeStatistics for_bytes(const VariantResult& variant, double bytes) {
    TimeStatistics time = *variant.time;
    for (double& us : time.samples) us *= bytes / variant.work.bytes;
    time.median *= bytes / variant.work.bytes;
    return time;
}

std::string rate_cell(const VariantResult& variant, const VariantResult& base) {
    const bool has_bytes = variant.work.bytes > 0 && base.work.bytes > 0;
    if (!has_bytes || variant.work.bytes == base.work.bytes || !has_speed(variant) || !has_speed(base))
        return "";
    return pace_words(compare_apart(*variant.time, for_bytes(base, variant.work.bytes)));
}

std::optional<double> error_of(const VariantResult& variant, const std::string& output) {
    for (const OutputError& error : variant.errors)
        if (error.output == output) return error.max_abs;
    return {};
}

std::string error_cell(const VariantResult& variant, const VariantResult& base, const std::string& output) {
    const auto error = error_of(variant, output), before = error_of(base, output);
    if (!error || !before) return "";
    if (*error == *before) return "same";
    return *before > 0 ? rounded(*error / *before, 3) + "x" : "";
}

std::string difference(double now, double before, const char* unit) {
    if (now == before) return "same";
    return fmt::format("{:+.0f}{}", now - before, unit);
}

std::string registers_cell(const VariantResult& variant, const VariantResult& base) {
    const LaunchRecord *const now = main_launch(variant), *const before = main_launch(base);
    if (!now || !before) return "";
    return difference(static_cast<double>(now->info->resources->registers),
                      static_cast<double>(before->info->resources->registers), "");
}

std::string occupancy_cell(const VariantResult& variant, const VariantResult& base) {
    const LaunchRecord *const now = main_launch(variant), *const before = main_launch(base);
    if (!now || !before || !now->occupancy.theoretical || !before->occupancy.theoretical) return "";
    return difference(std::round(100 * *now->occupancy.theoretical),
                      std::round(100 * *before->occupancy.theoretical), " points");
}

// The cell of every row of a table whose first column has the names of variants.
std::vector<std::string> cells_of(const Column& column, const Table& table, const Result& result,
                                  const Result& base) {
    std::vector<std::string> cells;
    for (const auto& row : table.rows) {
        const VariantResult* const variant = find(result, row.front());
        const VariantResult* const before = find(base, row.front());
        const bool both = variant && before && variant->ran() && before->ran();
        cells.push_back(both ? column.cell(*variant, *before) : "");
    }
    return cells;
}

}  // namespace

void add_comparison(Table& table, const Result& result, const Result& base, const std::string& name) {
    const auto error = [&](const VariantResult& variant, const VariantResult& before) {
        return error_cell(variant, before, result.main_output);
    };
    const std::vector<Column> always = {{"time", time_cell}, {"error", error}},
                              if_known = {{"rate", rate_cell},
                                          {"registers", registers_cell},
                                          {"occupancy", occupancy_cell}};
    const auto place_of = [&](const char* column) {
        return std::find_if(table.columns.begin(), table.columns.end(),
                            [&](const Table::Column& each) { return each.name == column; });
    };
    const auto verdict = place_of("verdict");
    auto at = (verdict == table.columns.end() ? place_of("skipped") : verdict + 1) - table.columns.begin();
    const auto insert = [&](const Column& column, bool is_always) {
        const auto cells = cells_of(column, table, result, base);
        const bool is_known =
            std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return !cell.empty(); });
        if (!is_always && !is_known) return;
        table.columns.insert(table.columns.begin() + at, {column.name + (" vs " + name), "", false});
        for (size_t row = 0; row < cells.size(); ++row)
            table.rows[row].insert(table.rows[row].begin() + at, cells[row]);
        ++at;
    };
    for (const Column& column : always) insert(column, true);
    for (const Column& column : if_known) insert(column, false);
}

}  // namespace sawtooth

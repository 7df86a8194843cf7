#include "app/engine/tables/comparison_columns.h"

#include <algorithm>

#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

// The two were measured one after the other, perhaps on different machines.
std::string time_cell(const VariantResult& variant, const VariantResult& base) {
    if (!has_speed(variant) || !has_speed(base)) return "";
    return pace_words(compare_apart(*variant.time, *base.time));
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

}  // namespace

void add_comparison(Table& table, const Result& result, const Result& base, const std::string& name) {
    const auto place_of = [&](const char* column) {
        return std::find_if(table.columns.begin(), table.columns.end(),
                            [&](const Table::Column& each) { return each.name == column; });
    };
    const auto verdict = place_of("verdict");
    const auto place = verdict == table.columns.end() ? place_of("skipped") : verdict + 1;
    const auto at = place - table.columns.begin();
    table.columns.insert(place, {{"time vs " + name, "", false}, {"error vs " + name, "", false}});
    for (auto& row : table.rows) {
        const VariantResult* const variant = find(result, row.front());
        const VariantResult* const before = find(base, row.front());
        const bool both = variant && before && variant->ran() && before->ran();
        row.insert(row.begin() + at, {both ? time_cell(*variant, *before) : "",
                                      both ? error_cell(*variant, *before, result.main_output) : ""});
    }
}

}  // namespace sawtooth

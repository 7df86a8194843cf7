#include "app/engine/tables/triton_configs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/engine/run/configure.h"
#include "kernels/core/nearest.h"
#include "kernels/core/table.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

// The parameters that are arguments of triton.Config; all others are constants of the kernel.
constexpr std::pair<std::string_view, std::string_view> arguments[] = {
    {"warps", "num_warps"}, {"wpb", "num_warps"}, {"stages", "num_stages"}};

bool is_tiling(const Parameter& row) { return row.group == Group::tiling; }

std::string config_of(const Family& family, const Result& result, Names& unused) {
    std::string constants, others;
    for (const Parameter& row : family.parameters) {
        const Value& value = result.parameters.at(row.name);
        if (!is_tiling(row) || !std::holds_alternative<int64_t>(value)) continue;
        if (!row.why_unused(result.parameters, result.backend).empty()) {
            unused.push_back(row.name);
            continue;
        }
        const auto argument = std::find_if(std::begin(arguments), std::end(arguments),
                                           [&](const auto& each) { return each.first == row.name; });
        if (argument != std::end(arguments))
            others += fmt::format(", {}={}", argument->second, to_text(value));
        else
            constants += fmt::format("{}\"{}\": {}", constants.empty() ? "" : ", ", row.name, to_text(value));
    }
    return fmt::format("triton.Config({{{}}}{})", constants, others);
}

// What of a sweep that ended early, or of a shard, is not known; "" if the sweep is complete.
std::string missing_line(const SweepResult& sweep) {
    const size_t all = sweep.sweep.cells(), missing = all - count_of_measured(sweep);
    if (missing > 0) return fmt::format("# not measured: {} of {} settings\n", missing, all);
    return sweep.complete ? "" : "# the search ended early, so its times have fewer repeats\n";
}

std::string text_of(const Family& family, const SweepResult& sweep, const BestCells& best) {
    const SweepCell& cell = sweep.cells[best.cells.front()];
    const TimeStatistics& time = *right_in(cell, best.variant)->time;
    Names unused;
    const std::string config = config_of(family, *cell.result, unused);
    std::string text = fmt::format("# {} on {}: {} (quartiles {} to {})\n", best.variant, cell.result->device,
                                   time_words(time), short_time(time.q1), short_time(time.q3));
    const auto compared = std::ranges::count_if(sweep.cells, [&](const SweepCell& each) {
        return right_in(each, best.variant) && each.result->device == cell.result->device;
    });
    if (best.cells.size() > 1)
        text +=
            fmt::format("# {} of {} other settings may be as fast\n", best.cells.size() - 1, compared - 1);
    if (const size_t left_out = best.left_out.size())
        text += fmt::format("# {} more{} {} not measured again, so {} not ruled out\n", left_out,
                            !sweep.complete ? ""
                            : left_out == 1 ? " with a longer median"
                                            : " with longer medians",
                            left_out == 1 ? "was" : "were", left_out == 1 ? "it is" : "they are");
    if (!unused.empty())
        text += fmt::format("# without effect in this measurement, so not tuned: {}\n", listed(unused));
    return text + config + "\n";
}

}  // namespace

std::optional<Error> check_triton(const Family& family, const std::vector<SweepAxis>& axes) {
    if (std::none_of(family.parameters.begin(), family.parameters.end(), is_tiling))
        return Error::usage(
            Refusal{"--export", "triton",
                    family.name + " has no tiling parameters for a triton.Config; use --export json"});
    for (const SweepAxis& axis : axes)
        for (const std::string& name : names_of(axis))
            if (const Parameter* const row = family.parameter(name); row && !is_tiling(*row))
                return Error::usage(Refusal{
                    "--export", "triton",
                    "a triton.Config has tiling parameters, and " + name + " is none; use --export json"});
    return {};
}

Outcome<std::string> triton_configs(const SweepResult& sweep) {
    const auto family = find_offered_family(sweep.sweep.base.family);
    if (!family) return family.error();
    const auto all = best_cells(sweep);
    if (all.empty())
        return Error::failure(
            "--export triton: no variant has right results in several cells to choose from");
    std::string text = missing_line(sweep);
    for (const BestCells& best : all) text += text_of(**family, sweep, best);
    return text;
}

}  // namespace sawtooth

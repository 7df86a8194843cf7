#include "app/engine/wire/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/engine/identity.h"
#include "app/engine/run/configure.h"
#include "app/engine/wire/ceilings_json.h"
#include "app/engine/wire/json_values.h"
#include "kernels/families.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/sweep_cells.h"
#include "kernels/figures/timeline.h"

namespace sawtooth {
namespace {

// Numbers in which NaN means unknown.
Json known_numbers(const std::vector<float>& values) {
    Json list = Json::array();
    for (const float value : values) list.push_back(std::isnan(value) ? Json() : number(value));
    return list;
}

// The parameters in the order of the schema, as far as it names them.
Json object_of(const std::string& family_name, const Parameters& parameters) {
    Json object = Json::object();
    if (const Family* family = find_family(family_name))
        for (const Parameter& row : family->parameters)
            if (parameters.has(row.name)) object[row.name] = value_of(parameters.at(row.name));
    object.update(object_of(parameters));
    return object;
}

Json time_of(const std::optional<TimeStatistics>& time) {
    if (!time) return nullptr;
    return {{"median", number(time->median)},
            {"q1", number(time->q1)},
            {"q3", number(time->q3)},
            {"samples", numbers(time->samples)},
            {"disturbed", time->disturbed}};
}

Json copy_of(const std::optional<Copy>& copy) {
    if (!copy) return nullptr;
    return {{"bytes", number(copy->bytes)}, {"time", time_of(copy->time)}};
}

Json error_of(const OutputError& error) {
    return {{"max_abs", optional_number(error.max_abs)},
            {"rel_l2", optional_number(error.rel_l2)},
            {"nonfinite", {{"count", error.nonfinite}, {"first", optional_number(error.first_nonfinite)}}}};
}

Json errors_of(const std::vector<OutputError>& errors) {
    Json object = Json::object();
    for (const OutputError& error : errors) object[error.output] = error_of(error);
    return object;
}

Json verdict_of(const OutputVerdict& verdict) {
    Json worst;
    if (verdict.worst)
        worst = {{"index", verdict.worst->index},
                 {"got", number(verdict.worst->got)},
                 {"want", number(verdict.worst->want)},
                 {"bound", number(verdict.worst->bound)},
                 {"where", verdict.worst->where}};
    return {{"output", verdict.output},
            {"verdict", name_of(verdict.verdict)},
            {"elements", verdict.elements},
            {"judged", verdict.judged},
            {"rel_l2", optional_number(verdict.rel_l2)},
            {"worst", std::move(worst)}};
}

Json uses_of(const std::vector<Buffer>& uses) {
    return list_of(uses, [](const Buffer& use) { return Json{{"name", use.name}, {"shape", use.shape}}; });
}

Json extent_of(const Extent& extent) { return Json::array({extent.x, extent.y, extent.z}); }

Json occupancy_of(const Occupancy& occupancy) {
    return {{"theoretical", optional_number(occupancy.theoretical)},
            {"limiter", occupancy.limiter.empty() ? Json() : Json(occupancy.limiter)}};
}

Json compiled_of(const CompiledLaunch& compiled) {
    return {{"launch", compiled.launch},
            {"arch", compiled.architecture},
            {"threads", compiled.threads > 0 ? Json(compiled.threads) : Json()},
            {"registers", compiled.resources.registers},
            {"shared_bytes", compiled.resources.shared_bytes},
            {"spill_bytes", compiled.resources.spill_bytes},
            {"occupancy", occupancy_of(compiled.occupancy)}};
}

// A launch; only kernels of the CPU count what they do.
Json launch_of(const LaunchRecord& launch, bool counts) {
    const LaunchInfo& info = *launch.info;
    Json object = {{"name", info.name},
                   {"meaning", info.meaning},
                   {"reads", uses_of(info.reads)},
                   {"writes", uses_of(info.writes)},
                   {"grid", extent_of(info.grid)},
                   {"grid_formula", info.grid_formula},
                   {"block", extent_of(info.block)},
                   {"start_us", number(launch.start_us)},
                   {"duration_us", number(launch.duration_us)},
                   {"registers", nullptr},
                   {"shared_bytes", nullptr},
                   {"spill_bytes", nullptr}};
    if (info.resources) {
        object["registers"] = info.resources->registers;
        object["shared_bytes"] = info.resources->shared_bytes;
        object["spill_bytes"] = info.resources->spill_bytes;
    }
    object["counters"] = Json::object();
    for (const auto& [name, value] : launch.counters) object["counters"][name] = number(value);
    object["occupancy"] = occupancy_of(launch.occupancy);
    object["occupancy"]["achieved"] = optional_number(launch.occupancy.achieved);
    object["tally"] = nullptr;
    if (counts)
        object["tally"] = {{"combines", launch.tally.combines},
                           {"read", launch.tally.read},
                           {"written", launch.tally.written}};
    object["busy"] = list_of(launch.busy, [](const BusySpan& span) {
        return Json{
            {"worker", span.worker}, {"start_us", number(span.start_us)}, {"end_us", number(span.end_us)}};
    });
    return object;
}

Json track_of(const Track& track) {
    return {{"name", track.name},
            {"unit", track.unit},
            {"start_us", number(track.start_us)},
            {"step_us", number(track.step_us)},
            {"values", numbers(track.values)}};
}

Json metric_of(const Metric& metric) {
    return {{"id", metric.id},
            {"label", metric.label},
            {"unit", metric.unit},
            {"value", optional_number(metric.value)}};
}

// The speed-up over the first variant with a time.
Json speed_up_of(const VariantResult& variant, const Result& result) {
    const auto base = std::find_if(result.variants.begin(), result.variants.end(),
                                   [](const VariantResult& each) { return each.time.has_value(); });
    if (!variant.time || &*base == &variant || variant.verdict() == Verdict::wrong ||
        base->verdict() == Verdict::wrong)
        return nullptr;
    const Comparison speed = compare(result, variant, *base);
    return {{"over", base->name},
            {"verdict", name_of(speed.pace)},
            {"ratio", number(speed.ratio)},
            {"low", number(speed.low)},
            {"high", number(speed.high)}};
}

Json variant_of(const VariantResult& variant, const Result& result) {
    const bool ran = variant.ran();
    const auto share_of_launches = [&](double share) {  // from 0 to 1
        return variant.launches.empty() ? Json() : number(share);
    };
    return {{"name", variant.name},
            {"refused", ran ? Json() : Json(variant.refused)},
            {"verdict", ran ? Json(name_of(variant.verdict())) : Json()},
            {"verdicts", list_of(variant.verdicts, verdict_of)},
            {"approximation", optional_number(approximation_of(result, variant))},
            {"outputs", errors_of(variant.errors)},
            {"memory_bytes", ran ? Json(variant.memory_bytes) : Json()},
            {"error_by_position",
             variant.errors.empty() ? Json::array() : known_numbers(variant.errors.front().by_position)},
            {"time_us", time_of(variant.time)},
            {"speed_up", speed_up_of(variant, result)},
            {"work", {{"bytes", number(variant.work.bytes)}, {"flops", number(variant.work.operations)}}},
            {"launches", list_of(variant.launches,
                                 [&](const LaunchRecord& launch) {
                                     return launch_of(launch, result.backend == Backend::cpu);
                                 })},
            {"launch_count", ran ? Json(variant.launch_count) : Json()},
            {"utilisation", share_of_launches(utilisation(variant.launches, result.processors))},
            {"idle", share_of_launches(idle_share(variant.launches))},
            {"tracks", list_of(variant.tracks, track_of)},
            {"metrics", list_of(variant.metrics, metric_of)},
            {"compiled", list_of(variant.compiled, compiled_of)}};
}

Json clocks_of(const std::optional<Clocks>& clocks) {
    if (!clocks) return nullptr;
    return {{"before_mhz", number(clocks->before_mhz)},
            {"after_mhz", number(clocks->after_mhz)},
            {"highest_mhz", number(clocks->highest_mhz)},
            {"throttled", clocks->throttled}};  // "": not throttled
}

// The parameters that have no effect in this run, as {name: reason}.
Json unused_parameters_of(const Result& result) {
    Json object = Json::object();
    const Family* const family = find_family(result.request.family);
    if (!family) return object;
    for (const Parameter& row : family->parameters) {
        const std::string why = why_unused(row, result.parameters, result.backend, result.request.arch);
        if (!why.empty()) object[row.name] = why;
    }
    return object;
}

Json result_of(const Result& result) {
    const Request& request = result.request;
    return {{"family", request.family},
            {"backend", name_of(result.backend)},
            {"device", result.device},
            {"host", result.host.empty() ? Json() : Json(result.host)},
            {"version", build_identity()},
            {"seed", request.seed},
            {"values", name_of(request.values)},
            {"optional", request.optional},
            {"cache", request.cache == Cache::hot ? "hot" : "cold"},
            {"jitter", request.jitter},
            {"multiprocessors", request.multiprocessors},
            {"kernels", request.kernels.empty() ? Json() : Json(request.kernels)},
            {"parameters", object_of(request.family, result.parameters)},
            {"unused_parameters", unused_parameters_of(result)},
            {"notes", result.notes},
            {"variants", list_of(result.variants,
                                 [&](const VariantResult& variant) { return variant_of(variant, result); })},
            {"ceilings", result.ceilings ? ceilings_of(*result.ceilings) : Json()},
            {"copy", copy_of(result.copy)},
            {"in_turns", result.in_turns},
            {"clocks", clocks_of(result.clocks)}};
}

Json known(int64_t count) { return count > 0 ? Json(count) : Json(); }

Json bound_of(const std::optional<Bound>& bound) {
    if (!bound) return {};
    return {{"by", name_of(bound->by)},
            {"share", optional_number(bound->share)},
            {"step_us", optional_number(bound->step_us)},
            {"empty_launches", optional_number(bound->empty_launches)}};
}

Json cost_of(const LaunchCost& cost) {
    return {{"name", cost.name},
            {"meaning", cost.meaning},
            {"count", cost.count},
            {"time_us", time_of(cost.time)},
            {"bytes", number(cost.bytes)},
            {"gb_per_s", optional_number(cost.gigabytes_per_second())},
            {"over_copy", optional_number(cost.over_copy)}};
}

Json row_of(const BenchRow& row) {
    Json object = {{"family", row.family},
                   {"name", row.name},
                   {"variant", row.variant},
                   {"device", row.device},
                   {"host", row.host},
                   {"parameters", object_of(row.family, row.parameters)},
                   {"time_us", time_of(row.time)},
                   {"limit", nullptr},
                   {"ratio", nullptr},
                   {"bound", bound_of(row.bound)},
                   {"verdict", name_of(row.verdict)},
                   {"verdicts", list_of(row.verdicts, verdict_of)},
                   {"errors", errors_of(row.errors)},
                   {"launches", known(row.launches)},
                   {"note", row.note}};
    if (!row.limit_name.empty())
        object["limit"] = {{"name", row.limit_name}, {"time_us", time_of(row.limit)}};
    if (row.ratio) {
        const Comparison interval = compare_in_turns(*row.limit, *row.time);
        object["ratio"] = {{"median", number(row.ratio->median)},
                           {"q1", number(row.ratio->q1)},
                           {"q3", number(row.ratio->q3)},
                           {"at_least", number(interval.low)},
                           {"at_most", number(interval.high)}};
    }
    if (!row.counted.empty()) object["counters"] = row.counted;
    if (!row.compiled.empty()) object["compiled"] = list_of(row.compiled, compiled_of);
    if (!row.costs.empty()) object["by_launch"] = list_of(row.costs, cost_of);
    return object;
}

Json axis_of(const SweepAxis& axis) {
    return {{"parameter", axis.parameter}, {"also", axis.also}, {"values", list_of(axis.values, value_of)}};
}

// The swept values of a cell: {"chunk": 64, "C_G": 64}.
Json values_of(const Sweep& sweep, const SweepCell& cell) {
    Json object = Json::object();
    for (size_t i = 0; i < cell.values.size(); ++i)
        for (const std::string& name : names_of(sweep.axes[i])) object[name] = value_of(cell.values[i]);
    return object;
}

// The fastest correct cell of a variant, the cells that may be as fast, and those that a search left out.
Json best_of(const SweepResult& sweep, const BestCells& best) {
    const auto all = [&](const std::vector<size_t>& cells) {
        return list_of(cells, [&](size_t cell) { return values_of(sweep.sweep, sweep.cells[cell]); });
    };
    const SweepCell& first = sweep.cells[best.cells.front()];
    return {{"variant", best.variant},
            {"device", first.result->device},
            {"values", values_of(sweep.sweep, first)},
            {"time_us", time_of(right_in(first, best.variant)->time)},
            {"others", all({best.cells.begin() + 1, best.cells.end()})},
            {"left_out", all(best.left_out)}};
}

Json text_or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

}  // namespace

std::string to_json(const Result& result) { return text_of(result_of(result)); }

std::string to_json(const SweepResult& result) {
    const Sweep& sweep = result.sweep;
    std::vector<SweepCell> measured;
    std::copy_if(result.cells.begin(), result.cells.end(), std::back_inserter(measured),
                 [](const SweepCell& cell) { return !is_missing(cell); });
    const std::vector<PlaceColumn> places = place_columns(result);
    const auto cell_of = [&](const SweepCell& cell) {
        Json object = {{"values", values_of(sweep, cell)}};
        object["refused"] = cell.refused.empty() ? Json() : Json(cell.refused);
        object["result"] = cell.result ? result_of(*cell.result) : Json();
        for (const PlaceColumn& place : places)
            object[place.name] = cell.result ? Json(place.text(*cell.result)) : Json();
        return object;
    };
    const auto fastest = has_best(sweep, **find_offered_family(sweep.base.family)) ? best_cells(result)
                                                                                   : std::vector<BestCells>();
    return text_of({{"family", sweep.base.family},
                    {"seed", sweep.base.seed},
                    {"axes", list_of(sweep.axes, axis_of)},
                    {"search", sweep.search},
                    {"complete", result.complete},
                    {"best", list_of(fastest, [&](const BestCells& best) { return best_of(result, best); })},
                    {"cells", list_of(measured, cell_of)}});
}

std::string tuned_json(const SweepResult& result) {
    const auto tuned_of = [&](const BestCells& best) {
        const Result& first = *result.cells[best.cells.front()].result;
        Json object = best_of(result, best);
        object["parameters"] = object_of(result.sweep.base.family, first.parameters);
        return object;
    };
    return text_of({{"family", result.sweep.base.family},
                    {"seed", result.sweep.base.seed},
                    {"axes", list_of(result.sweep.axes, axis_of)},
                    {"complete", result.complete},
                    {"best", list_of(best_cells(result), tuned_of)}});
}

std::string to_json(const std::vector<CheckReport>& reports) {
    const auto finding_of = [](const Finding& finding) {
        const bool is_known = finding.number >= 0;  // which setting it was
        return Json{{"variant", finding.variant},
                    {"command", is_known ? Json(command_of(finding)) : Json()},
                    {"problem", finding.problem.empty() ? Json() : Json(finding.problem)},
                    {"verdict", finding.problem.empty() ? verdict_of(finding.verdict) : Json()},
                    {"setting", is_known ? Json(finding.number) : Json()},
                    {"seconds", number(finding.seconds)}};
    };
    return text_of(
        {{"version", build_identity()}, {"families", list_of(reports, [&](const CheckReport& report) {
                                             return Json{{"family", report.family},
                                                         {"device", report.device},
                                                         {"complete", report.complete},
                                                         {"settings", report.tried},
                                                         {"outputs", report.judged},
                                                         {"cannot_judge", report.cannot_judge},
                                                         {"given_up", report.given_up},
                                                         {"seconds", number(report.seconds)},
                                                         {"failures", list_of(report.findings, finding_of)}};
                                         })}});
}

std::string to_json(const BenchReport& report) {
    Json json = {{"device", report.device},
                 {"date", report.date},
                 {"version", report.version},
                 {"notes", report.notes},
                 {"cases", list_of(report.rows, row_of)}};
    if (report.ended) json["ended"] = report.ended->text;
    return text_of(json);
}

std::string to_json(const VerdictBench& bench) {
    const auto counts_of = [](const VerdictCounts& counts) -> Json {
        return {{"busy_processes", counts.busy_processes},
                {"trials", counts.trials},
                {"winners_in_turns", counts.winners_in_turns},
                {"winners_apart", counts.winners_apart},
                {"comparisons_of_rounds", counts.of_rounds},
                {"winners_of_rounds", counts.winners_of_rounds},
                {"same", counts.same},
                {"cannot_tell", counts.cannot_tell},
                {"disturbed", counts.disturbed},
                {"repeats", counts.repeats}};
    };
    return text_of({{"device", bench.device},
                    {"version", build_identity()},
                    {"counts", list_of(bench.counts, counts_of)}});
}

std::string to_json(const Devices& devices) {
    const auto gpu_of = [](const Devices::Gpu& gpu) {
        return Json{{"name", gpu.name},
                    {"architecture", gpu.architecture},
                    {"multiprocessors", known(gpu.multiprocessors)},
                    {"memory_bytes", known(gpu.memory_bytes)},
                    {"shared_bytes_per_block", known(gpu.shared_bytes_per_block)},
                    {"l2_bytes", known(gpu.l2_bytes)}};
    };
    const Devices::Cpu& cpu = devices.cpu;
    return text_of(
        {{"version", build_identity()},
         {"cpu",
          {{"name", cpu.name},
           {"cores", known(cpu.cores)},
           {"vectors", cpu.vectors},
           {"memory_bytes", known(cpu.memory_bytes)},
           {"last_level_cache_bytes", known(cpu.last_level_cache_bytes)}}},
         {"gpus", list_of(devices.gpus, gpu_of)},
         {"gpu_reason", devices.gpu_reason.empty() ? Json() : Json(devices.gpu_reason)},
         {"driver", text_or_null(devices.driver)},
         {"toolkit", text_or_null(devices.toolkit)},
         {"toolkit_reason", devices.toolkit_reason.empty() ? Json() : Json(devices.toolkit_reason)},
         {"counters", {{"allowed", devices.counters_allowed}, {"reason", devices.counters_reason}}},
         {"limits", list_of(devices.limits, ceilings_of)}});
}

std::string written_json(const std::vector<std::string>& paths) { return text_of({{"written", paths}}); }

}  // namespace sawtooth

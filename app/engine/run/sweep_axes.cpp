#include "app/engine/run/sweep_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/engine/run/configure.h"
#include "kernels/core/typed_values.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

std::optional<Error> check_axis(const SweepAxis& axis, const Family& family) {
    for (const std::string& name : names_of(axis)) {
        const Parameter* const row = family.parameter(name);
        if (!row) return Error::usage(no_such_parameter(name, family));
        if (row->type == Type::list) return Error::usage(Refusal{"--over", name, "lists cannot be swept"});
        if (row->renews == Renews::figures)
            return Error::usage(
                Refusal{"--over", name, "it only affects figures, so there is nothing to run"});
        if (axis.values.empty())
            return Error::usage(Refusal{"--over", name, "no values; accepted: " + row->accepted()});
        for (const Value& value : axis.values)
            if (const auto refusal = row->check(value)) return Error::usage(*refusal);
    }
    return {};
}

}  // namespace

Outcome<SweepAxis> parse_axis(const Family& family, std::string_view names, std::string_view values) {
    SweepAxis axis;
    for (size_t start = 0; start <= names.size();) {
        const size_t comma = std::min(names.find(',', start), names.size());
        const std::string_view name = names.substr(start, comma - start);
        const Parameter* const row = find_parameter(family, name);
        if (!row) return Error::usage(no_such_parameter(name, family));
        if (axis.parameter.empty())
            axis.parameter = row->name;
        else
            axis.also.push_back(row->name);
        start = comma + 1;
    }
    const Parameter& row = *family.parameter(axis.parameter);
    if (row.type != Type::list) {
        auto parsed = parse_values(row, values);
        if (!parsed) return parsed.error();
        axis.values = std::move(*parsed);
    }
    if (const auto error = check_axis(axis, family)) return *error;
    return axis;
}

std::optional<Error> check_sweep(const Sweep& sweep) {
    const auto family = find_offered_family(sweep.base.family);
    if (!family) return family.error();
    if (sweep.axes.empty() || sweep.axes.size() > 2)
        return Error::usage(
            Refusal{"--over", std::to_string(sweep.axes.size()), "a sweep has one or two axes"});
    std::vector<std::string> seen;
    for (const SweepAxis& axis : sweep.axes) {
        if (axis.values.size() > most_swept_values)
            return Error::usage(fmt::format("--over {}: {} values; an axis has at most {}", axis.parameter,
                                            axis.values.size(), most_swept_values));
        if (auto error = check_axis(axis, **family)) return error;
        for (const std::string& name : names_of(axis)) {
            if (std::find(seen.begin(), seen.end(), name) != seen.end())
                return Error::usage(Refusal{"--over", name, "a parameter can be swept only once"});
            seen.push_back(name);
        }
    }
    return {};
}

std::vector<std::string> axes_without_effect(const Sweep& sweep) {
    std::vector<std::string> notes;
    const auto family = find_offered_family(sweep.base.family);
    if (!family || !sweep.base.input.empty()) return notes;
    const Backend backend = sweep.base.backend == BackendChoice::cpu ? Backend::cpu : Backend::cuda;
    for (const SweepAxis& axis : sweep.axes) {
        const Parameter& row = *(*family)->parameter(axis.parameter);
        std::string why;
        for (size_t index = 0; index < sweep.cells(); ++index) {
            const Parameters parameters = in_force(**family, sweep.request(index), {}, backend);
            why = why_unused(row, parameters, backend, sweep.base.arch);
            if (why.empty()) break;
        }
        if (!why.empty()) {
            notes.push_back(row.name + " has no effect: " + why);
            continue;
        }
        std::string end;  // of the first value that is too large in some cell
        for (size_t index = 0; index < sweep.cells() && end.empty(); ++index) {
            const Parameters parameters = in_force(**family, sweep.request(index), {}, backend);
            end = words_of_end(row, parameters);
            if (!end.empty())
                notes.push_back(fmt::format("{} = {} {}", row.name, to_text(parameters.at(row.name)), end));
        }
    }
    return notes;
}

}  // namespace sawtooth

// What the controls of Parameters show.

#include "app/engine/configure.h"
#include "app/engine/devices.h"
#include "app/gui/backends.h"
#include "app/gui/lab.h"
#include "app/gui/run_rows.h"

namespace sawtooth {

Value shown_value(const LabState& lab, const Parameter& row) {
    if (is_run_row(row)) return run_value(lab.request, row.name);
    const auto& set = lab.request.parameters;
    if (set.has(row.name)) return set.at(row.name);
    const bool given = !lab.request.preset.empty() || lab.fixed.contains(row.name);
    return given && lab.parameters.has(row.name) ? lab.parameters.at(row.name) : row.initial;
}

bool is_changed(const LabState& lab, const Parameter& row) {
    if (is_run_row(row)) return run_value(lab.request, row.name) != row.initial;
    return lab.request.parameters.has(row.name) && lab.request.parameters.at(row.name) != row.initial;
}

std::optional<Value> settled_value(const LabState& lab, const Parameter& row) {
    const Value shown = shown_value(lab, row);
    if (is_run_row(row) || !std::holds_alternative<std::string>(shown)) return {};
    // Uses the findings of a run if the configuration cannot know them beforehand.
    for (const Parameters* known : {&lab.parameters, lab.result ? &lab.result->parameters : nullptr})
        if (known && known->has(row.name) && known->at(row.name) != shown) return known->at(row.name);
    return {};
}

Value present_value(const LabState& lab, const Parameter& row) {
    if (const auto settled = settled_value(lab, row)) return *settled;
    return shown_value(lab, row);
}

std::string reason_fixed(const LabState& lab, const Parameter& row) {
    const auto found = lab.fixed.find(row.name);
    if (found == lab.fixed.end()) return "";
    return fmt::format("Fixed by the array {} of {}. Close the file to set it.", found->second,
                       lab.request.input);
}

std::string reason_refused(const LabState& lab, const Variant& variant) {
    const Backend backend = backend_in_force(lab);
    if (!variant.runs_on(backend))
        return fmt::format("It has no implementation for {}.", backend == Backend::cpu ? "the CPU" : "CUDA");
    const auto chip = chip_in_force(lab);
    return chip ? variant.refusal(lab.parameters, *chip).value_or("") : "";
}

}  // namespace sawtooth

// The values that the controls of Parameters show.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/engine/machine/devices.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/run_rows.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/effect.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/slider_scale.h"

namespace sawtooth {
namespace {

const char* renewal_sentence(const Parameter& row) {
    switch (row.renews) {
        case Renews::inputs:
            return "A change generates new inputs and a new reference, and runs the kernels.";
        case Renews::kernels:
            return "A change runs the kernels again; inputs and reference are reused.";
        case Renews::figures:
            return "A change only redraws the figures; nothing runs.";
    }
    return "";
}

}  // namespace

Value shown_value(const LabState& lab, const Parameter& row) {
    if (is_run_row(row)) return run_value(lab.request, row.name);
    const auto& set = lab.request.parameters;
    if (set.has(row.name)) return set.at(row.name);
    const bool given = !lab.request.preset.empty() || lab.fixed.contains(row.name);
    return given && lab.parameters.has(row.name) ? lab.parameters.at(row.name) : row.initial;
}

Value value_of_reset(const LabState& lab, const Parameter& row) {
    const auto& presets = lab.family->presets;
    const auto preset = std::find_if(presets.begin(), presets.end(),
                                     [&](const Preset& each) { return each.name == lab.request.preset; });
    if (is_run_row(row) || preset == presets.end()) return row.initial;
    const auto given = std::find_if(preset->values.begin(), preset->values.end(),
                                    [&](const auto& value) { return value.first == row.name; });
    return given == preset->values.end() ? row.initial : given->second;
}

bool is_changed(const LabState& lab, const Parameter& row) {
    if (is_run_row(row)) return run_value(lab.request, row.name) != row.initial;
    return lab.request.parameters.has(row.name) &&
           lab.request.parameters.at(row.name) != value_of_reset(lab, row);
}

std::optional<Value> settled_value(const LabState& lab, const Parameter& row) {
    const Value shown = shown_value(lab, row);
    // A choice may be "auto", too.
    if (is_run_row(row) || (shown != Value(row.word) && shown != Value("auto"))) return {};
    // Uses the findings of a run where the configuration cannot know the number beforehand.
    const auto in = [&](const Parameters& known) {
        return known.has(row.name) && known.at(row.name) != shown ? std::optional(known.at(row.name))
                                                                  : std::nullopt;
    };
    if (const auto settled = in(lab.parameters)) return settled;
    return shows_what_is_set(lab) ? in(lab.result->parameters) : std::nullopt;
}

Value present_value(const LabState& lab, const Parameter& row) {
    if (const auto settled = settled_value(lab, row)) return *settled;
    return shown_value(lab, row);
}

// Why another value of a row has no recorded times; "" if there are some.
std::string reason_not_recorded(const LabState& lab, const Parameter& row) {
    if (!lab.recording || row.renews == Renews::figures) return "";
    const std::string name = recording_words(lab.request.recording);
    if (is_run_row(row)) {
        constexpr std::array recorded_once{"seed", "values", "optional", "cache"};
        const bool is_once =
            std::find(recorded_once.begin(), recorded_once.end(), row.name) != recorded_once.end();
        if (!is_once || run_value(lab.request, row.name) != row.initial) return "";
        return fmt::format("{} has only {} = {}. Choose another backend to set it.", name, row.name,
                           to_text(row.initial));
    }
    const auto recorded = lab.recording->values(row.name);
    if (recorded.size() > 1 || lab.nearest_recorded.has(row.name)) return "";
    return fmt::format("{} has only {} = {}. Choose another backend to set it.", name, row.name,
                       recorded.empty() ? "" : to_text(recorded.front()));
}

std::string reason_fixed(const LabState& lab, const Parameter& row) {
    const auto found = lab.fixed.find(row.name);
    if (found == lab.fixed.end()) return reason_not_recorded(lab, row);
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

std::string shown_refusal(const LabState& lab, const Variant& variant) {
    const std::string reason = reason_refused(lab, variant);
    if (!reason.empty() || chip_in_force(lab) || !shows_what_is_set(lab)) return reason;
    const VariantResult* const found = find(*lab.result, variant.name);
    return found ? found->refused : "";
}

ChoiceRefusal choice_refusal(const LabState& lab, const Parameter& row, const Value& choice) {
    const auto chip = chip_in_force(lab);
    if (!chip || is_run_row(row)) return {};
    const auto parameters_with = [&](const Value& value) {
        Request request = lab.request;
        request.parameters.set(row.name, value);
        return in_force(*lab.family, request, lab.given, chip->backend);
    };
    const Parameters chosen = parameters_with(choice);
    // Other parameters may make this choice possible.
    if (lab.family->check && lab.family->check(chosen)) return {};
    ChoiceRefusal refusal{"", true};
    for (const Variant& variant : lab.family->variants) {
        if (!variant.runs_on(chip->backend) || lab.disabled_variants.contains(variant.name)) continue;
        const auto reason = variant.refusal(chosen, *chip);
        if (!reason) refusal.by_all = false;
        const auto runs_with = [&](const Value& other) {
            return !variant.refusal(parameters_with(other), *chip);
        };
        if (reason && std::any_of(row.choices.begin(), row.choices.end(), runs_with))
            refusal.reason +=
                fmt::format("{}{}: {}", refusal.reason.empty() ? "" : "\n", variant.name, *reason);
    }
    refusal.by_all = refusal.by_all && !refusal.reason.empty();
    return refusal;
}

std::string unit_after(const std::string& text, const Parameter& row) {
    const bool is_one = text == "1" || text.ends_with("(1)");
    if (!is_one || row.unit.size() < 3 || !row.unit.ends_with('s')) return row.unit;
    if (row.unit.ends_with("ies")) return row.unit.substr(0, row.unit.size() - 3) + "y";
    return row.unit.substr(0, row.unit.size() - 1);
}

std::string with_unit(const std::string& text, const Parameter& row) {
    return row.unit.empty() ? text : fmt::format("{} {}", text, unit_after(text, row));
}

std::string explanation(const LabState& lab, const Parameter& row) {
    const std::string title = row.title.empty() ? "" : " (" + row.title + ")";
    std::string text = fmt::format("{}{}: {}\n\nAccepted: {}\nDefault: {}\n", row.name, title, row.meaning,
                                   with_unit(row.accepted(), row), with_unit(to_text(row.initial), row));
    if (const std::string scale = scale_words(row, span_of(lab, row)); !scale.empty())
        text += fmt::format("Slider: {}\n", scale);
    if (!row.source.empty()) text += fmt::format("Source: {}\n", row.source);
    if (row.end)
        text += fmt::format("\nValues above {} (currently {}) act like it.", row.end->words,
                            last_value(lab, row));
    if (const std::string why = reason_unused(lab, row); !why.empty())
        text += fmt::format("\nNo effect now: {}.", why);
    text += fmt::format("\n{}", renewal_sentence(row));
    if (row.type == Type::integer || row.type == Type::real)
        text += "\nCtrl+click or Enter to type a value: 4*1024, 2^12, 2k (k, M and G are powers of 1024).";
    if (const std::string reason = reason_fixed(lab, row); !reason.empty()) text += "\n\n" + reason;
    return text;
}

}  // namespace sawtooth

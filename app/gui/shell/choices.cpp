// The entries of the palette that depend on the family, the devices and the runs so far.

#include <fmt/format.h>
#include <imgui.h>

#include "app/engine/run/run_rows.h"
#include "app/gui/figures/figure_menu.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/actions.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/session_file.h"
#include "app/gui/state/shown_values.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

using Actions = std::vector<Action>;

auto because(std::string reason) {
    return [reason = std::move(reason)](const LabState&) { return reason; };
}

auto always(bool on) {
    return [on](const LabState&) { return on; };
}

void add_families(const LabState& lab, Actions& all) {
    for (const Family* family : lab.families)
        all.push_back({.group = "Family",
                       .name = family->title,
                       .act = [family](LabState& now) { choose_family(now, *family); },
                       .is_on = always(family == lab.family),
                       .meaning = family->summary});
}

void add_backends(const LabState& lab, Actions& all) {
    const BackendOption present = present_backend(lab);
    for (const BackendOption& option : backend_options(lab))
        all.push_back({.group = "Backend",
                       .name = option.name,
                       .act =
                           [option](LabState& now) {
                               choose_backend(now, option.backend, option.device, option.recording);
                           },
                       .reason = because(option.reason),
                       .is_on = always(option.is_same(present)),
                       .meaning = option.meaning});
    for (const Chip& chip : chips())
        all.push_back({.group = "Compile for",
                       .name = fmt::format("{}, {}", chip.architecture, chip.name),
                       .act = [name = chip.architecture](LabState& now) { choose_chip(now, name); },
                       .reason = because(reason_not_compiled(lab)),
                       .is_on = always(chip.architecture == lab.request.arch)});
}

void add_settings(const LabState& lab, Actions& all) {
    const auto add_preset = [&](const std::string& name) {
        all.push_back({.group = "Preset",
                       .name = name.empty() ? "defaults" : name,
                       .act = [name](LabState& now) { choose_preset(now, name); },
                       .is_on = always(name == lab.request.preset)});
    };
    if (!lab.family->presets.empty()) add_preset("");
    for (const Preset& preset : lab.family->presets) add_preset(preset.name);
    for (const Try& example : lab.family->about.tries)
        all.push_back({.group = "Try",
                       .name = example.words,
                       .act = [&example](LabState& now) { try_out(now, example); },
                       .is_on = always(example.words == lab.tried),
                       .meaning = example.look});
    for (const Variant& variant : lab.family->variants) {
        const bool on = !lab.disabled_variants.contains(variant.name);
        all.push_back({.group = "Variant",
                       .name = variant.name,
                       .act = [name = variant.name, on](LabState& now) { enable_variant(now, name, !on); },
                       .reason = because(shown_refusal(lab, variant)),
                       .is_on = always(on),
                       .meaning = variant.idea});
    }
}

// Adds every choice of a row. Numbers are set by their controls instead.
void add_parameter(const LabState& lab, const Parameter& row, Actions& all) {
    const std::string reason = reason_fixed(lab, row);
    const Value present = shown_value(lab, row);
    std::vector<Value> values;
    if (row.type == Type::boolean) values = {Value(true), Value(false)};
    if (row.type == Type::choice) values = row.choices;
    for (const Value& value : values)
        all.push_back({.group = "Set",
                       .name = row.name + " " + to_text(value),
                       .act = [&row, value](LabState& now) { set_parameter(now, row, value); },
                       .reason = because(reason),
                       .is_on = always(value == present),
                       .meaning = row.meaning});
}

void add_parameters(const LabState& lab, Actions& all) {
    for (const Parameter& row : lab.family->parameters) add_parameter(lab, row, all);
    for (const Parameter& row : run_rows()) add_parameter(lab, row, all);
    for (const Parameter& row : lab.family->parameters)
        all.push_back({.group = "Sweep",
                       .name = row.name + "…",
                       .act = [&row](LabState& now) { open_sweep_form(now, row); },
                       .reason = because(reason_not_swept(lab, row)),
                       .meaning = "Runs a range of values in the background. Results appear in More."});
}

void add_panels(Actions& all) {
    for (const Panel& panel : panels())
        all.push_back({.group = "Show",
                       .name = panel.name,
                       .act = [&panel](LabState&) { ImGui::SetWindowFocus(panel.name); },
                       .meaning = panel.help});
}

}  // namespace

std::vector<Action> theme_choices() {
    Actions all;
    for (const auto& [name, choice] : {std::pair("System", ThemeChoice::system),
                                       {"Dark", ThemeChoice::dark},
                                       {"Light", ThemeChoice::light}})
        all.push_back(
            {.group = "Theme",
             .name = name,
             .act = [choice = choice](LabState& now) { choose_theme(now, choice); },
             .is_on = [choice = choice](const LabState& now) { return theme_choice(now) == choice; }});
    return all;
}

std::vector<Action> recent_choices(const LabState& lab) {
    Actions all;
    for (const std::string& path : lab.settings.recent)
        all.push_back({.group = "Recent",
                       .name = path,
                       .act = [path](LabState& now) { open_any_file(now, path); },
                       .meaning = is_session_file(path) ? "Opens this session. Nothing runs."
                                                        : "Opens this file as inputs, and runs."});
    return all;
}

std::vector<Action> scale_choices(const LabState& lab) {
    Actions all;
    const bool automatic = action("Scale of the monitor").is_on(lab);
    for (double scale = smallest_scale; scale <= largest_scale(lab); scale += scale_step)
        all.push_back({.group = "Scale",
                       .name = fmt::format("{:.0f} %", scale * 100),
                       .act = [scale](LabState& now) { choose_scale(now, scale); },
                       .is_on = always(!automatic && scale_of(lab) == scale)});
    return all;
}

std::vector<Action> choices(const LabState& lab) {
    Actions all;
    add_families(lab, all);
    add_backends(lab, all);
    add_settings(lab, all);
    add_panels(all);
    for (Action& each : recent_choices(lab)) all.push_back(std::move(each));
    for (Action& each : theme_choices()) all.push_back(std::move(each));
    for (Action& each : scale_choices(lab)) all.push_back(std::move(each));
    add_parameters(lab, all);
    add_figures(lab, all);
    return all;
}

}  // namespace sawtooth

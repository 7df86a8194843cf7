// Switches between families; each one returns with the settings at which it was left.

#include "app/gui/state/family_choice.h"

#include <utility>

#include "app/gui/state/checking.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

// Clears everything that belongs to the family shown before.
void forget_results(LabState& lab) {
    cancel_sweeps(lab);
    for (const BackgroundSweep& sweep : lab.sweeps)
        if (sweep.result) lab.session.sweeps.push_back({sweep.result, sweep.result_figures, sweep.is_saved});
    lab.sweeps.clear();
    lab.given.clear();
    lab.fixed.clear();
    lab.result.reset();
    lab.told = {};
    lab.figures.reset();
    lab.times_of.reset();
    lab.kept_figures.clear();
    lab.failure.reset();
    lab.tried.clear();
    lab.filling.clear();
    lab.selected.reset();
    lab.measured.reset();
}

void show_sweeps_before(LabState& lab) {
    std::vector<SweptBefore> shown, others;
    for (const SweptBefore& swept : lab.session.sweeps) {
        const bool is_here = swept.result->sweep.base.family == lab.family->name;
        (is_here && !is_replaced(lab, *swept.result) ? shown : others).push_back(swept);
    }
    lab.session.sweeps = std::move(others);
    for (const SweptBefore& swept : shown) show_finished_sweep(lab, swept);
}

}  // namespace

FamilySettings settings_of(const LabState& lab) {
    const bool is_looked_at = lab.looking_back && !lab.looking_back->input.empty();
    const std::string& input = is_looked_at ? lab.looking_back->input : lab.request.input;
    return {lab.request.preset,  input,           lab.request.parameters, lab.disabled_variants,
            lab.hidden_variants, lab.view.visible};
}

void show_family(LabState& lab, const Family& family, FamilySettings settings) {
    forget_results(lab);
    lab.family = &family;
    if (!lab.looking_back) end_check_of_other_family(lab);
    lab.parameters = family.defaults();
    lab.request.family = family.name;
    lab.request.preset = std::move(settings.preset);
    lab.request.input.clear();
    lab.request.parameters = std::move(settings.parameters);
    lab.disabled_variants = std::move(settings.disabled_variants);
    lab.hidden_variants = std::move(settings.hidden_variants);
    lab.view.visible = std::move(settings.visible);
    lab.shows_top_of_about = true;
    show_sweeps_before(lab);
}

FamilySettings leave_family(LabState& lab, const Family& next) {
    give_up_opening(lab);
    lab.others[lab.family->name] = settings_of(lab);
    if (lab.looking_back) lab.looking_back->input.clear();
    FamilySettings settings = std::move(lab.others[next.name]);
    lab.others.erase(next.name);
    return settings;
}

void choose_family(LabState& lab, const Family& family) {
    if (&family == lab.family) return;
    FamilySettings settings = leave_family(lab, family);
    const std::string input = settings.input;
    show_family(lab, family, std::move(settings));
    submit(lab);
    if (!input.empty()) open_file(lab, input);
}

}  // namespace sawtooth

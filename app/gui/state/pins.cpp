#include "app/gui/state/pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/engine/tables/result_names.h"
#include "app/gui/state/history.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/result_settings.h"

namespace sawtooth {
namespace {

Pin* find_pin(LabState& lab, uint64_t ticket) {
    const auto found = std::find_if(lab.pins.begin(), lab.pins.end(),
                                    [ticket](const Pin& pin) { return pin.ticket == ticket; });
    return found == lab.pins.end() ? nullptr : &*found;
}

int free_number(const LabState& lab) {
    int number = 1;
    while (std::any_of(lab.pins.begin(), lab.pins.end(),
                       [number](const Pin& pin) { return pin.number == number; }))
        ++number;
    return number;
}

void pins_changed(LabState& lab) {
    keep_results(lab);
    ++lab.session.marks;
    ++lab.session.revision;
    tell_result(lab);
}

bool is_of_family(const Pin& pin, const Family* family) { return pin.settings.family == family; }

}  // namespace

void keep_results(LabState& lab) {
    std::vector<Kept> kept;
    const auto add = [&](uint64_t ticket, const Request& request) {
        if (ticket < first_ticket_of_files) kept.push_back({ticket, request});
    };
    for (const Pin& pin : lab.pins) add(pin.ticket, pin.result->request);
    if (lab.looking_back && !is_pinned(lab)) add(lab.shown_ticket, lab.result->request);
    lab.engine.keep(std::move(kept));
}

bool is_pinned(const LabState& lab) {
    return std::any_of(lab.pins.begin(), lab.pins.end(),
                       [&](const Pin& pin) { return pin.ticket == lab.shown_ticket; });
}

std::string reason_not_pinned(const LabState& lab) {
    if (!lab.result) return "Nothing was run yet.";
    if (is_pinned(lab)) return "";
    if (!lab.result->complete) return "The result is not complete yet.";
    if (lab.pins.size() >= most_pins)
        return fmt::format("{} results are pinned, which is the most: unpin one first.", most_pins);
    return "";
}

void toggle_pin(LabState& lab) {
    if (!reason_not_pinned(lab).empty()) return;
    if (is_pinned(lab)) return unpin(lab, lab.shown_ticket);
    const bool is_first = std::none_of(lab.pins.begin(), lab.pins.end(),
                                       [&](const Pin& pin) { return is_of_family(pin, lab.family); });
    const PastResult* const past = find_past(lab, lab.shown_ticket);
    lab.pins.push_back({lab.shown_ticket, free_number(lab), is_first,
                        past ? past->settings : settings_of_result(lab, *lab.result), lab.result, lab.figures,
                        past ? past->packed : nullptr});
    pins_changed(lab);
}

void unpin(LabState& lab, uint64_t ticket) {
    const Pin* const pin = find_pin(lab, ticket);
    if (!pin) return;
    const Family* const family = pin->settings.family;
    const bool was_baseline = pin->is_baseline;
    std::erase_if(lab.pin_in_place, [&](const auto& chosen) { return chosen.second == pin->number; });
    lab.pins.erase(lab.pins.begin() + (pin - lab.pins.data()));
    const auto next = std::find_if(lab.pins.begin(), lab.pins.end(),
                                   [&](const Pin& other) { return is_of_family(other, family); });
    if (was_baseline && next != lab.pins.end()) next->is_baseline = true;
    pins_changed(lab);
}

void unpin_all(LabState& lab) {
    lab.pins.clear();
    lab.pin_in_place.clear();
    pins_changed(lab);
}

void choose_baseline(LabState& lab, uint64_t ticket) {
    const Pin* const chosen = find_pin(lab, ticket);
    if (!chosen) return;
    for (Pin& pin : lab.pins)
        if (is_of_family(pin, chosen->settings.family)) pin.is_baseline = &pin == chosen;
    pins_changed(lab);
}

void bring_back(LabState& lab, uint64_t ticket) {
    if (const Pin* const pin = find_pin(lab, ticket)) go_to(lab, Snapshot(pin->settings));
}

const Pin* baseline(const LabState& lab) {
    for (const Pin& pin : lab.pins)
        if (pin.is_baseline && is_of_family(pin, lab.family) && pin.ticket != lab.shown_ticket) return &pin;
    return nullptr;
}

std::vector<std::string> names_of_pins(const LabState& lab) {
    // Those of the pins of a family, in order, and then of the result.
    std::map<const Family*, std::vector<Facts>> facts;
    for (const Pin& pin : lab.pins)
        facts[pin.settings.family].push_back(facts_of(*pin.settings.family, *pin.result));
    if (lab.result) facts[lab.family].push_back(facts_of(*lab.family, *lab.result));
    std::map<const Family*, size_t> named;
    std::vector<std::string> names;
    for (const Pin& pin : lab.pins) {
        const Family* const family = pin.settings.family;
        const std::vector<Facts>& all = facts[family];
        const std::string name = name_among(all[named[family]++], all);
        names.push_back(family == lab.family ? name
                        : all.size() == 1    ? family->name
                                             : family->name + ": " + name);
    }
    return names;
}

std::vector<Pinned> ghosts_of(const LabState& lab) {
    std::vector<Pinned> ghosts;
    const std::vector<std::string> names = lab.pins.empty() ? std::vector<std::string>() : names_of_pins(lab);
    for (size_t i = 0; i < lab.pins.size(); ++i) {
        const Pin& pin = lab.pins[i];
        if (is_of_family(pin, lab.family) && pin.ticket != lab.shown_ticket && pin.figures)
            ghosts.push_back({pin.figures.get(), names[i], pin.number});
    }
    return ghosts;
}

bool take_figures_of_pin(LabState& lab, const Event& event) {
    Pin* const pin = find_pin(lab, event.ticket);
    if (!pin) return false;
    const bool had_figures = pin->figures != nullptr;
    pin->figures = event.figures;
    if (!had_figures) lab.told.ghosts = ghosts_of(lab);
    for (Pinned& ghost : lab.told.ghosts)
        if (ghost.number == pin->number) ghost.figures = pin->figures.get();
    return true;
}

}  // namespace sawtooth

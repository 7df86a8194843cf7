#include "app/gui/state/history.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "app/engine/run/run_rows.h"
#include "app/gui/state/family_choice.h"
#include "app/gui/state/lab.h"

namespace sawtooth {
namespace {

constexpr size_t most_steps = 200;

bool is_at(const LabState& lab, const Snapshot& step) {
    return lab.family == step.family && lab.request == step.request &&
           lab.disabled_variants == step.disabled_variants;
}

// The difference in words: "chunk", "the inputs"; "3 settings" if several differ.
std::string words_of_change(const Snapshot& from, const Snapshot& to) {
    if (from.family != to.family) return "the family";
    std::vector<std::string> names;
    const auto value = [](const Snapshot& step, const Parameter& row) {
        const Parameters& set = step.request.parameters;
        return set.has(row.name) ? set.at(row.name) : row.initial;
    };
    for (const Parameter& row : from.family->parameters)
        if (value(from, row) != value(to, row)) names.push_back(row.name);
    for (const Parameter& row : run_rows())
        if (run_value(from.request, row.name) != run_value(to.request, row.name)) names.push_back(row.name);
    if (from.disabled_variants != to.disabled_variants) names.emplace_back("the variants");
    if (from.request.preset != to.request.preset) names.emplace_back("the preset");
    if (from.request.input != to.request.input) names.emplace_back("the inputs");
    if (from.request.arch != to.request.arch) names.emplace_back("the chip");
    const auto place = [](const Snapshot& step) {
        return std::tuple(step.request.backend, step.request.device, step.request.recording);
    };
    if (place(from) != place(to)) names.emplace_back("the backend");
    if (names.empty()) return "a setting";
    return names.size() == 1 ? names.front() : fmt::format("{} settings", names.size());
}

void move_step(LabState& lab, std::vector<Snapshot>& from, std::vector<Snapshot>& to, const char* done) {
    follow_changes(lab, false);
    if (from.empty()) return;
    const Snapshot target = std::move(from.back());
    from.pop_back();
    note(lab, LogLine::Kind::note,
         fmt::format("{}: {}", done, words_of_change(*lab.history.present, target)));
    to.push_back(std::move(*lab.history.present));
    go_to(lab, target);
    lab.history.present = settings_now(lab);
}

}  // namespace

Snapshot settings_now(const LabState& lab) {
    return {lab.family, lab.request, lab.disabled_variants, lab.given, lab.fixed, lab.tried};
}

void set_settings(LabState& lab, const Snapshot& settings) {
    lab.request = settings.request;
    lab.disabled_variants = settings.disabled_variants;
    lab.given = settings.given;
    lab.fixed = settings.fixed;
    lab.tried = settings.tried;
}

void go_to(LabState& lab, const Snapshot& settings) {
    const Family* const before_family = lab.family;
    const Request before = request_of(lab);
    if (settings.family != lab.family)
        show_family(lab, *settings.family, leave_family(lab, *settings.family));
    set_settings(lab, settings);
    lab.settings.backend = settings.request.backend;
    lab.settings.device = settings.request.device;
    lab.settings.recording = settings.request.recording;
    lab.typing.reset();
    if (lab.family != before_family)
        submit(lab);
    else
        take_change(lab, before);
}

void follow_changes(LabState& lab, bool held) {
    LabState::History& history = lab.history;
    if (!history.present) history.present = settings_now(lab);
    if (held || lab.looking_back || is_at(lab, *history.present)) return;
    history.undo.push_back(std::exchange(*history.present, settings_now(lab)));
    if (history.undo.size() > most_steps) history.undo.erase(history.undo.begin());
    history.redo.clear();
}

void undo(LabState& lab) { move_step(lab, lab.history.undo, lab.history.redo, "undone"); }
void redo(LabState& lab) { move_step(lab, lab.history.redo, lab.history.undo, "redone"); }

std::string words_of_undo(const LabState& lab) {
    const LabState::History& history = lab.history;
    return history.undo.empty() || !history.present ? ""
                                                    : words_of_change(*history.present, history.undo.back());
}

std::string words_of_redo(const LabState& lab) {
    const LabState::History& history = lab.history;
    return history.redo.empty() || !history.present ? ""
                                                    : words_of_change(*history.present, history.redo.back());
}

}  // namespace sawtooth

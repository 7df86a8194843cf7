#pragma once

#include <string>

#include "app/engine/window_options.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

EngineCalls calls_of(Engine& engine, std::function<void()> wake);

// The initial lab, in which the family of the options is already running. A usage error if the options name
// something unknown.
Outcome<LabState> open_lab(const WindowOptions& options, EngineCalls engine);

// Call once per frame: takes events and performs the actions that are due.
void update(LabState& lab, double now);
// The time of the next action that is due; nullopt: there is none without an event.
std::optional<double> due(const LabState& lab);
// The time when the picture drawn at `now` changes without an event; nullopt: never.
std::optional<double> changes_at(const LabState& lab);

// The following are changes by the user. Each one submits if the lab is live; an example, a preset, a chip
// and a profile run in any case.
void set_parameter(LabState& lab, const Parameter& row, Value value);
// Call after a change of the settings from those of `before`: runs the new ones, or only redraws figures, as
// needed.
void take_change(LabState& lab, const Request& before);
// Sets a parameter by name and number, as plots do; no effect if its control cannot be moved.
void choose_value(LabState& lab, const std::string& parameter, double value);
void reset_parameter(LabState& lab, const Parameter& row);
void reset_parameters(LabState& lab);
void try_out(LabState& lab, const Try& example);
void choose_preset(LabState& lab, const std::string& name);  // "": the defaults
void enable_variant(LabState& lab, const std::string& variant, bool enabled);

void choose_chip(
    LabState& lab,
    const std::string& architecture);  // also compiles for that architecture; "": for the present chip
void set_profile(LabState& lab, Profile profile);

// Settles the current settings without a run. False: they cannot run, and the problem is shown.
bool settle(LabState& lab);
void submit(LabState& lab);  // runs the current settings
void stop(LabState& lab);    // stops the run, the sweeps and the check

// Sets the visible part of an axis; nullopt: all of it. Recomputes the figures that share the axis.
void look_at(LabState& lab, const std::string& axis, std::optional<View::Range> visible);

// Sets the width of the widest plot, because figures need no more columns than that.
void fit_columns(LabState& lab, int pixels);

// Seconds until the window shows that a run is in progress and dims outdated figures. A shorter time would
// flicker while a slider is dragged.
constexpr double patience = 0.12;

// Why plots are out of date, in a few words ("running"); "" if they are not.
std::string why_outdated(const LabState& lab);

// Returns whether the run is waiting for a compiler.
bool is_compiling(const LabState& lab);
// The seconds, rounded up, until the worker is stopped; only after a launch has run long enough.
std::optional<int> countdown(const LabState& lab);
std::string countdown_words(int seconds);

// The problem in words: "Cannot run: …", or "Failed: …" if it was tried.
std::string problem_words(const Problem& problem);

// The Request that `submit` sends.
Request request_of(const LabState& lab);

// Computes the facts about the shown result again, for example because another one is the baseline.
void tell_result(LabState& lab);

void note(LabState& lab, LogLine::Kind kind, std::string text);
// Notes a problem unless the log has it already.
void note_once(LabState& lab, const std::string& problem);

}  // namespace sawtooth

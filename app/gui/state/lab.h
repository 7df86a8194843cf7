#pragma once

#include <string>

#include "app/engine/window_options.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

EngineCalls calls_of(Engine& engine, std::function<void()> wake);

// The initial lab, with the family of the options already running. A usage error if the options name unknown
// things.
Outcome<LabState> open_lab(const WindowOptions& options, EngineCalls engine);

// Once per frame: takes events and runs due actions.
void update(LabState& lab, double now);
// The time of the next due action; nullopt: none without an event.
std::optional<double> due(const LabState& lab);
// When the picture drawn at `now` changes without an event; nullopt: never.
std::optional<double> changes_at(const LabState& lab);

// Changes by the user. Each submits if the lab is live.
void set_parameter(LabState& lab, const Parameter& row, Value value);
// After a change of the settings from those of `before`: runs them, or only draws figures anew, as needed.
void take_change(LabState& lab, const Request& before);
// The same by name and number, as in plots; no effect if the control cannot be moved.
void choose_value(LabState& lab, const std::string& parameter, double value);
void reset_parameter(LabState& lab, const Parameter& row);
void reset_parameters(LabState& lab);
void try_out(LabState& lab, const Try& example);
void choose_preset(LabState& lab, const std::string& name);  // "": the defaults
void enable_variant(LabState& lab, const std::string& variant, bool enabled);

void choose_chip(LabState& lab,
                 const std::string& architecture);  // also compiles for it; "": the present chip
void set_profile(LabState& lab, Profile profile);

void submit(LabState& lab);  // runs the current settings
void stop(LabState& lab);    // the run, the sweeps and the check

// Sets the visible part of an axis; nullopt: all of it. Recomputes figures that share the axis.
void look_at(LabState& lab, const std::string& axis, std::optional<View::Range> visible);

// Sets the width of the widest plot: figures need no more columns.
void fit_columns(LabState& lab, int pixels);

// Seconds until the window shows that a run is in progress and dims outdated figures: less would flicker
// while a slider is dragged.
constexpr double patience = 0.12;

// Why plots are out of date, in a few words ("running"); "" if they are not.
std::string why_outdated(const LabState& lab);

// Whether the run is waiting for a compiler.
bool is_compiling(const LabState& lab);
// Seconds, rounded up, until the worker is stopped, once a launch has run long enough.
std::optional<int> countdown(const LabState& lab);
std::string countdown_words(int seconds);

// "Cannot run: …", or "Failed: …" if it was tried.
std::string problem_words(const Problem& problem);

// The Request that `submit` sends.
Request request_of(const LabState& lab);

void note(LabState& lab, LogLine::Kind kind, std::string text);

}  // namespace sawtooth

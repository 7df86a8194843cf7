#pragma once

#include <string>

#include "app/engine/window_options.h"
#include "app/gui/lab_state.h"

namespace sawtooth {

EngineCalls calls_of(Engine& engine, std::function<void()> wake);

// The lab at its start, with the family of the options already running. An error of usage where the options
// name what is not there.
Outcome<LabState> open_lab(const WindowOptions& options, EngineCalls engine);

// Once a frame: takes events and does what has become due.
void update(LabState& lab, double now);
// When the next thing becomes due; nullopt: nothing will unless something happens.
std::optional<double> due(const LabState& lab);
// When what is drawn at `now` will look different although nothing happens; nullopt: never.
std::optional<double> changes_at(const LabState& lab);

// Changes by a person. Each submits where the lab is live.
void choose_family(LabState& lab, const Family& family);
void set_parameter(LabState& lab, const Parameter& row, Value value);
// The same by the name and a number, as plots know them; nothing where the control cannot be moved.
void choose_value(LabState& lab, const std::string& parameter, double value);
void reset_parameter(LabState& lab, const Parameter& row);
void reset_parameters(LabState& lab);
void enable_variant(LabState& lab, const std::string& variant, bool enabled);

void choose_chip(LabState& lab, const std::string& architecture);  // theory for it; "": the chip at hand
void set_profile(LabState& lab, Profile profile);

void submit(LabState& lab);  // what is set, now
void stop(LabState& lab);    // the run and the sweeps

// A plot shows another part of its axis; nullopt: all of it. Figures that share the axis are made anew for
// it.
void look_at(LabState& lab, const std::string& axis, std::optional<View::Range> visible);

// The widest plot is that many pixels wide: figures need no more columns.
void fit_columns(LabState& lab, int pixels);

// The rows of a Request that are no parameters of a family: seed, repeats, cache, profile,
// threads, time limit.
const std::vector<Parameter>& run_rows();

// What the control of a row shows: what was set, else what is in force.
Value shown_value(const LabState& lab, const Parameter& row);
bool is_changed(const LabState& lab, const Parameter& row);
// The number in force behind a word ("auto"); nullopt where it is not known.
std::optional<Value> settled_value(const LabState& lab, const Parameter& row);
// That number, else what is shown.
Value present_value(const LabState& lab, const Parameter& row);
// Why a control cannot be moved; "" where it can.
std::string reason_fixed(const LabState& lab, const Parameter& row);
// Why a variant cannot run what is set; "" where it can.
std::string reason_refused(const LabState& lab, const Variant& variant);

// How long a run may take, in seconds, before the window says that it runs and dims what is old: less would
// flicker as a slider is dragged.
constexpr double patience = 0.12;

// Why what is drawn is not what is set, in few words ("running"); "" where it is.
std::string why_outdated(const LabState& lab);

// Whether what runs waits for a compiler.
bool is_compiling(const LabState& lab);
// Seconds, rounded up, until the worker is ended, once a launch has taken so long that it may come to that.
std::optional<int> countdown(const LabState& lab);
std::string countdown_words(int seconds);

// "Cannot run: …", or "Failed: …" where it was tried.
std::string problem_words(const Problem& problem);

// The Request that `submit` sends.
Request request_of(const LabState& lab);

void note(LabState& lab, LogLine::Kind kind, std::string text);

}  // namespace sawtooth

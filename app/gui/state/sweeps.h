#pragma once

#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The form for a sweep over the automatic values of the row.
void open_sweep_form(LabState& lab, const Parameter& row);
// The sweep of the form around the current settings, or what is wrong with it.
Outcome<Sweep> sweep_of(const LabState& lab, const SweepForm& form);
// Starts it and closes the form, if nothing is wrong.
void start_sweep(LabState& lab);
// Why the row cannot be swept now, in a sentence; "" if it can.
std::string reason_not_swept(const LabState& lab, const Parameter& row);
// Sets the parameters of the sweep's fastest right result.
void set_best(LabState& lab, const Parameters& best);

// All choices, powers of two or even steps around the current value; empty if it cannot be swept.
std::vector<Value> sweep_values(const Parameter& row, const Value& present);

// Titles in place of the figures of sweeps that are still to start, so that they have their room.
void announce_sweeps(LabState& lab);
// Starts the sweeps of the family's figures and of the user, around the newest result, if their base changed.
void restart_sweeps(LabState& lab);
void take_sweep_event(LabState& lab, const Event& event);
void cancel_sweep(LabState& lab, BackgroundSweep& sweep);
void cancel_sweeps(LabState& lab);
// Those of figures that run for settings that were left: they start anew when the settings rest.
void cancel_outdated_sweeps(LabState& lab);
void remove_sweep(LabState& lab, const std::string& key);

// Whether its figures belong to another configuration than the current one.
bool is_outdated(const LabState& lab, const BackgroundSweep& sweep);
bool sweeps_run(const LabState& lab);

}  // namespace sawtooth

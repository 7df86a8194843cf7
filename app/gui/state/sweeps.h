#pragma once

#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

constexpr double rest_before_sweeps = 0.5;  // seconds without a change before sweeps start

// Opens the form for a sweep over the suggested values of the row.
void open_sweep_form(LabState& lab, const Parameter& row);
// The sweep of the form around the current settings, or the error in it.
Outcome<Sweep> sweep_of(const LabState& lab, const SweepForm& form);
// Starts the sweep and closes the form, if there is no error in it.
void start_sweep(LabState& lab);
// A sentence on why the row cannot be swept now; "" if it can.
std::string reason_not_swept(const LabState& lab, const Parameter& row);
// The sweeps of the user that have not ended.
std::vector<Sweep> unfinished_sweeps(const LabState& lab);
// Starts these sweeps of the user from their beginning.
void start_again(LabState& lab, const std::vector<Sweep>& sweeps);
// Sets the parameters of the fastest correct result of a sweep.
void set_best(LabState& lab, const Parameters& best);

// The values of a sweep: all choices, powers of two, or even steps around the current value. Empty if the row
// cannot be swept.
std::vector<Value> sweep_values(const Parameter& row, const Value& present);

// Puts titles in the place of the figures of sweeps that have yet to start, so that they have their room.
void announce_sweeps(LabState& lab);
// Starts the sweeps of the family's figures and those of the user around the newest result, if their base
// changed.
void restart_sweeps(LabState& lab);
// Shows a sweep that has finished earlier.
void show_finished_sweep(LabState& lab, const SweptBefore& swept);
// Whether another sweep of the session has its place, a later one of the same family and title.
bool is_replaced(const LabState& lab, const SweepResult& sweep);
void take_sweep_event(LabState& lab, const Event& event);
void cancel_sweep(LabState& lab, BackgroundSweep& sweep);
void cancel_sweeps(LabState& lab);
// Cancels sweeps of figures that run for settings that were left; they restart once the settings rest.
void cancel_outdated_sweeps(LabState& lab);
void remove_sweep(LabState& lab, const std::string& key);

// Returns whether the figures of the sweep belong to another configuration than the current one.
bool is_outdated(const LabState& lab, const BackgroundSweep& sweep);
// The same against the result that is shown, which while the user looks back is not that of the current one.
bool is_of_other_settings(const LabState& lab, const BackgroundSweep& sweep);
bool sweeps_run(const LabState& lab);

}  // namespace sawtooth

#pragma once

#include <string>
#include <vector>

#include "app/gui/lab_state.h"

namespace sawtooth {

// A person asks to see the newest result's configuration over the values that the row takes.
void sweep_parameter(LabState& lab, const Parameter& row);
// All choices, powers of two or even steps about the present value; empty where it cannot be swept.
std::vector<Value> sweep_values(const Parameter& row, const Value& present);

// The sweeps that figures of the family need, and those of persons, around the newest result: started where
// the base is another than before.
void restart_sweeps(LabState& lab);
void take_sweep_event(LabState& lab, const Event& event);
void cancel_sweep(LabState& lab, BackgroundSweep& sweep);
void cancel_sweeps(LabState& lab);
void remove_sweep(LabState& lab, const std::string& key);

// Whether its figures are of another configuration than what is set.
bool is_outdated(const LabState& lab, const BackgroundSweep& sweep);
bool sweeps_run(const LabState& lab);

}  // namespace sawtooth

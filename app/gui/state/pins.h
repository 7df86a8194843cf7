#pragma once

#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"
#include "viz/ghosts.h"

namespace sawtooth {

// Results that the user keeps beside the newest one. Figures show those of the same family as ghosts, and
// Numbers compares with the baseline.

constexpr size_t most_pins = 8;

// Pins the shown result, or unpins it.
void toggle_pin(LabState& lab);
// Why toggle_pin has no effect; "" if it has one.
std::string reason_not_pinned(const LabState& lab);
bool is_pinned(const LabState& lab);  // the shown result is
void unpin(LabState& lab, uint64_t ticket);
void unpin_all(LabState& lab);
void choose_baseline(LabState& lab, uint64_t ticket);
// Sets the settings of a pinned result, and runs them if they differ from the present ones. Undo returns.
void bring_back(LabState& lab, uint64_t ticket);

// The pinned result that Numbers compares with: of the shown family, but not the shown one itself. Null if
// there is none.
const Pin* baseline(const LabState& lab);
// The name of each pin: its values that differ among the pins of its family and the shown result, "chunk 64,
// seed 2".
std::vector<std::string> names_of_pins(const LabState& lab);
// Those whose figures are ghosts: of the shown family, but not the shown result itself.
std::vector<Pinned> ghosts_of(const LabState& lab);
// Tells the engine which results to keep: the pinned ones and the earlier one that is shown.
void keep_results(LabState& lab);
// Takes new figures of a pinned result. Returns false if the event is about no pin.
bool take_figures_of_pin(LabState& lab, const Event& event);

}  // namespace sawtooth

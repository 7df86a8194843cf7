#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Notes are text marks of the user: on a figure of a result, on a launch of it, or on a figure of a sweep.
// They are kept in the session.

// The notes on figures and launches of the result with that ticket; 0: on figures of sweeps of the family.
std::vector<const SessionNote*> notes_on(const LabState& lab, uint64_t ticket);
// Why the shown result cannot have notes; "" if it can.
std::string reason_no_note(const LabState& lab);
bool has_note(const LabState& lab, uint64_t ticket);
// The note on the selected launch, as an index of SessionState::notes; absent if it has none.
std::optional<size_t> note_of_selected(const LabState& lab);

// These open the dialog: for a new note on a figure of that result (0: of a sweep) at a place on its axes,
// for the note on the selected launch, which may be new, or for a note that exists.
void begin_note(LabState& lab, const Figure& figure, double x, double y, uint64_t ticket);
void begin_note_on_selected(LabState& lab);
void edit_note(LabState& lab, size_t index, std::string where);
// These close the dialog.
void finish_note(LabState& lab);  // keeps the note, whose text must not be empty
void remove_note(LabState& lab);

}  // namespace sawtooth

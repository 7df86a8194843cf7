#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The last complete results of all families: each can be shown again without a run. The undo history, in
// history.h, has settings instead.

constexpr size_t most_past_results = 32;

// Adds the result that has just arrived, which must be shown and complete.
void remember_result(LabState& lab);
// Call after a result was added: forgets the oldest one of too many. The one that is shown stays, and so do
// those with notes, as long as there are others.
void forget_oldest_result(LabState& lab);
// A result of a session file, whose family is that one. What has no control, such as where it would run and
// with which kernels, is of the present settings.
PastResult past_of_file(const LabState& lab, const Family& family, uint64_t ticket,
                        const SessionResult& packed);
// The result of the history with that ticket; null if it is not there, or no longer.
const PastResult* find_past(const LabState& lab, uint64_t ticket);
// The one that is shown; null if the shown result is not one of the history.
const PastResult* shown_past(const LabState& lab);

// Shows a result of the history in place of the newest one, and its family. Runs nothing. The settings stay
// unless the family changes; a change of them returns to the newest result.
void look_back(LabState& lab, uint64_t ticket);
// Shows the newest result again; without effect if it is shown.
void return_to_newest(LabState& lab);
// Call before settings change or run: shows the newest result of the family, which the next one replaces.
// True: there is none, so the earlier one stays in its place.
bool stop_looking_back(LabState& lab);
// Sets the settings of the result and runs them. Undo returns.
void run_again(LabState& lab, uint64_t ticket);
// Shows the result `steps` later (if negative, earlier) than the shown one.
void step_back(LabState& lab, int steps);
// Whether there is such a result.
bool has_step_back(const LabState& lab, int steps);

// Ends the present run. A result of it that is on the way is not shown.
void drop_run(LabState& lab);
// Gives an event about the newest result to `take`, while an earlier one stays shown.
void take_behind_earlier(LabState& lab, const Event& event, void (*take)(LabState&, const Event&));

// What the result changed against the one before it of its family: "chunk 64 -> 256"; "first result" if there
// is none.
std::string what_changed(const LabState& lab, const PastResult& past);
// The values of the earlier result that is shown where they differ from the present settings: "chunk 64,
// length 512"; "" if none do.
std::string values_of_earlier(const LabState& lab);
// The variant with its time and error: "fused: 12.3 us, rel L2 1.2e-7"; "" without variants.
std::string words_of_numbers(const PastResult& past);
// When it was measured: "14:03:27", or with its date; "" if that is not known.
std::string clock_of(const PastResult& past);

}  // namespace sawtooth

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The launch selected by a click. It stays selected in later runs that have it: the same index among the
// launches of the same variant, and the same kernel.

// Selects the launch at `us` of the variant with that ink, or the nearest one if spans are merged.
void select_launch(LabState& lab, const Ink& ink, double us);

struct FoundLaunch {
    const VariantResult* variant = nullptr;
    const LaunchRecord* launch = nullptr;
};
// In the shown result; absent if nothing is selected or the result does not have it yet.
std::optional<FoundLaunch> selected_launch(const LabState& lab);

// Call for a complete result: drops a selected launch that it does not have.
void keep_selection(LabState& lab);

// "12.3 us: 17 launches of sequential, utilisation 62 %" for the variant with that ink; otherwise only the
// length.
std::string measured_words(const Result* result, const Ink& ink, View::Range us);

// "Launch 17: chain_walk"
std::string title_of_selected(const LabState& lab);
// "1 of 2 workers", "at most 64 of 132 SMs": how much of the device it kept busy; "" if unknown.
std::string workers_of_selected(const LabState& lab);
// The facts about it, as names and values: those of launch_words.h, its variant, time and workers.
std::vector<std::pair<std::string, std::string>> facts_of_selected(const LabState& lab);

}  // namespace sawtooth

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The launch that was selected by a click. It stays selected in later runs that have it: a launch of the same
// variant with the same index and the same kernel.

// Selects the launch at time `us` of the variant with that ink, or the nearest one if spans are merged.
void select_launch(LabState& lab, const Ink& ink, double us);

struct FoundLaunch {
    const VariantResult* variant = nullptr;
    const LaunchRecord* launch = nullptr;
};
// The selected launch in the shown result; absent if none is selected or the result does not have it yet.
std::optional<FoundLaunch> selected_launch(const LabState& lab);

// Call for a complete result: deselects a launch that it does not have.
void keep_selection(LabState& lab);

// The measured range in words, for the variant with that ink: "12.3 us: 17 launches of sequential,
// utilisation 62 %"; only the length if there is no such variant.
std::string measured_words(const Result* result, const Ink& ink, View::Range us);

// The title of the selected launch: "Launch 17: chain_walk".
std::string title_of_selected(const LabState& lab);
// How much of the device it kept busy: "1 of 2 workers", "at most 64 of 132 SMs"; "" if unknown.
std::string workers_of_selected(const LabState& lab);
// The facts about the selected launch, as names and values: those of launch_words.h, its variant, time and
// workers.
std::vector<std::pair<std::string, std::string>> facts_of_selected(const LabState& lab);

}  // namespace sawtooth

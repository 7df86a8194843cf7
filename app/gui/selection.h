#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/gui/lab_state.h"

namespace sawtooth {

// The launch that a person clicked on. It stays selected over runs that make it again: the same place among
// the launches of the same variant, and the same kernel.

// Of the variant with that ink, the launch at `us`, or the nearest one where spans stand for several.
void select_launch(LabState& lab, const Ink& ink, double us);

struct FoundLaunch {
    const VariantResult* variant = nullptr;
    const LaunchRecord* launch = nullptr;
};
// In the result that is shown; absent where nothing is selected, or the result does not have it yet.
std::optional<FoundLaunch> selected_launch(const LabState& lab);

// Once a result is complete: forgets a launch that it does not have.
void keep_selection(LabState& lab);

// "12.3 us: 17 launches of sequential, busy 62 %", of the variant with that ink; of another one the length
// alone.
std::string measured_words(const Result* result, const Ink& ink, View::Range us);

// "Launch 17: chain_walk"
std::string title_of_selected(const LabState& lab);
// All that is known of it, as names and values: those of launch_words.h, its variant, its time and workers.
std::vector<std::pair<std::string, std::string>> facts_of_selected(const LabState& lab);

}  // namespace sawtooth

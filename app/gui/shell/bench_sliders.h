#pragma once

#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// A control that a user could move, and the two values that `bench window` moves it between: its default and
// another one.
struct BenchSlider {
    const Parameter* row = nullptr;  // null: there is none
    Value initial, other;
};

// The first one that has an effect with the current settings and renews that.
BenchSlider find_slider(const LabState& lab, Renews renews);

}  // namespace sawtooth

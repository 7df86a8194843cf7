#pragma once

#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// A control that a user could move, and the two values between which `bench window` moves it: its default and
// another value.
struct BenchSlider {
    const Parameter* row = nullptr;  // null: there is none
    Value initial, other;
};

// The first control that has an effect with the current settings and renews `renews`.
BenchSlider find_slider(const LabState& lab, Renews renews);

}  // namespace sawtooth

#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The scale of a parameter's slider.

// Its ends; exponents if steps are powers of two.
struct Span {
    double low, high;
};
Span span_of(const LabState& lab, const Parameter& row);

bool steps_in_powers(const Parameter& row);
// If even steps would be finer than pixels.
bool is_logarithmic(const Parameter& row, const Span& span);

// The position of a number on its slider, 0 to 1, as placed by Dear ImGui, which treats 0 as a small number.
float share_of(const Parameter& row, const Span& span, double number);
// For Step::towards_one, where 0.9, 0.99 and 0.999 are equally far from each other: the number at a position.
double towards_one_at(const Span& span, double share);

// "logarithmic in 1 - gate"; "" if it is linear or has steps of its own.
std::string scale_words(const Parameter& row, const Span& span);

}  // namespace sawtooth

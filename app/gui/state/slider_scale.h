#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The scale of the slider of a parameter.

// The ends of a slider; exponents if steps are powers of two.
struct SliderSpan {
    double low, high;
};
SliderSpan span_of(const LabState& lab, const Parameter& row);

bool steps_in_powers(const Parameter& row);
// Returns whether the scale is logarithmic, because even steps would be finer than pixels.
bool is_logarithmic(const Parameter& row, const SliderSpan& span);

// The position of a number on its slider, 0 to 1, as Dear ImGui places it, which treats 0 as a small number.
float share_of(const Parameter& row, const SliderSpan& span, double number);
// The number at a position, for Step::towards_one, where 0.9, 0.99 and 0.999 are equally far from each other.
double towards_one_at(const SliderSpan& span, double share);

// The scale in words: "logarithmic in 1 - gate"; "" if it is linear or has special steps.
std::string scale_words(const Parameter& row, const SliderSpan& span);

}  // namespace sawtooth

#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The marks of the variants in the roofline, to be kept with a result.
std::vector<PastResult::Mark> roofline_marks(const Figures& figures);

bool may_have_trail(const Figure& figure);  // it is the roofline
// The roofline with the way on which earlier results of the history led to the shown one: those of its family
// on its device. Other figures as they are.
Figure with_trail(Figure figure, const LabState& lab);

}  // namespace sawtooth

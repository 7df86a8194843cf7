#pragma once

#include <vector>

#include "app/engine/session/session.h"

namespace sawtooth {

// The figure with those of the notes that are on it. A note on a launch is on the figure with the tracks of
// launches, where they show it; `result` is the result of these launches, or null.
Figure with_notes(Figure figure, const std::vector<const SessionNote*>& notes, const Result* result);

}  // namespace sawtooth

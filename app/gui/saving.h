#pragma once

#include "app/gui/lab_state.h"

namespace sawtooth {

constexpr int saved_width = 960, saved_height = 600;  // of a figure, in units; an SVG has as many pixels

// Opens the dialog that saves the figure, with a name to begin with.
void begin_saving(LabState& lab, const Figure& figure, Saving::Format format);
// Writes the file, or orders the picture that becomes it; what is wrong is shown in the dialog.
void save(LabState& lab);
// What came of writing it.
void finish_saving(LabState& lab, const std::optional<Error>& problem);

}  // namespace sawtooth

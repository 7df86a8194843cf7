#pragma once

#include "app/gui/lab_state.h"

namespace sawtooth {

constexpr int saved_width = 960, saved_height = 600;  // of a figure, in units; also the pixels of an SVG

// Opens the dialog that saves the figure, with a suggested name.
void begin_saving(LabState& lab, const Figure& figure, Saving::Format format);
// Writes the file, or requests its picture; problems are shown in the dialog.
void save(LabState& lab);
// Reports the outcome of writing.
void finish_saving(LabState& lab, const std::optional<Error>& problem);

}  // namespace sawtooth

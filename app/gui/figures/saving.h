#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

constexpr int saved_width = 960, saved_height = 600;  // of a figure, in units; also the pixels of an SVG

// Opens the dialog that saves the figure, with a suggested name.
void begin_saving(LabState& lab, const Figure& figure, Saving::Format format);
// Writes the file in the background, or requests its picture; problems are shown in the dialog.
void save(LabState& lab);
// Writes the file of the dialog with that function, in the background.
void write_saving(LabState& lab, FileWriter::Write write);

}  // namespace sawtooth

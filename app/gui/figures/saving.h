#pragma once

#include <functional>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The size of a saved figure in units, which are the pixels of an SVG.
constexpr int saved_width = 960, saved_height = 600;

// Opens the dialog that saves the figure, and suggests a name.
void begin_saving(LabState& lab, const Figure& figure, Saving::Format format);
// The same for a trace of the launches of the result, which must have some.
void begin_saving_trace(LabState& lab);
// Asks for the name of the session file.
void begin_saving_session(LabState& lab);
// Writes the file in the background, or requests its picture; the dialog shows problems.
void save(LabState& lab);
// Writes the file of the dialog in the background by calling that function, and calls `then` once it is
// written.
void write_saving(LabState& lab, FileWriter::Write write, std::function<void(LabState&)> then = {});

}  // namespace sawtooth

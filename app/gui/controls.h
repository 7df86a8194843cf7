#pragma once

#include "app/gui/lab_state.h"

namespace sawtooth {

// Columns that all rows of the panel share, in pixels.
struct ControlColumns {
    float name = 0, control = 0;
};
ControlColumns columns_for(const LabState& lab, float width);

// One row: name, the control that suits the type with value and unit in it; tooltip; menu on right click.
void draw_control(LabState& lab, const Parameter& row, const ControlColumns& columns);

// The control alone, in the height of a line, for the header of a figure.
void draw_small_control(LabState& lab, const Parameter& row, float width);
// Whether there is more than one value to choose from.
bool has_choice(const LabState& lab, const Parameter& row);

// From the next frame on the control takes text.
void begin_typing(LabState& lab, const Parameter& row);

}  // namespace sawtooth

#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The widths of the columns that all rows of the panel share, in pixels.
struct ControlColumns {
    float name = 0, control = 0;
};
ControlColumns columns_for(const LabState& lab, float width);

// Draws one row: the name and the control with value and unit, a tooltip, and a menu on right click.
void draw_control(LabState& lab, const Parameter& row, const ControlColumns& columns);

// Draws only the control, one line high, for the header of a figure.
void draw_small_control(LabState& lab, const Parameter& row, float width);
// Returns whether there is more than one value to choose from.
bool has_choice(const LabState& lab, const Parameter& row);

// From the next frame on the control accepts text.
void begin_typing(LabState& lab, const Parameter& row);

}  // namespace sawtooth

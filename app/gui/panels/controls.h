#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Columns shared by all rows of the panel, in pixels.
struct ControlColumns {
    float name = 0, control = 0;
};
ControlColumns columns_for(const LabState& lab, float width);

// One row: name, control with value and unit; tooltip; menu on right click.
void draw_control(LabState& lab, const Parameter& row, const ControlColumns& columns);

// Only the control, one line high, for the header of a figure.
void draw_small_control(LabState& lab, const Parameter& row, float width);
// Whether there is more than one value to choose from.
bool has_choice(const LabState& lab, const Parameter& row);

// The control accepts text from the next frame on.
void begin_typing(LabState& lab, const Parameter& row);

}  // namespace sawtooth

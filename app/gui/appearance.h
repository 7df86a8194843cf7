#pragma once

#include <imgui.h>

#include "app/gui/lab_state.h"
#include "viz/theme.h"

namespace sawtooth {

constexpr double smallest_scale = 1, largest_scale = 2, scale_step = 0.25;

// Loads the fonts; what could not be found is noted in the log.
void load_fonts(LabState& lab);
ImFont* bold_font();
ImFont* number_font();

// Theme and scale of the lab into the styles, where they are other than before.
void apply_appearance(LabState& lab);

const Theme& theme_of(const LabState& lab);
double scale_of(const LabState& lab);

// Lengths for the eye are given at 100 %.
float units(float length);
ImVec4 colour_of(uint32_t rgb);
ImVec4 problem_colour(const LabState& lab);

}  // namespace sawtooth

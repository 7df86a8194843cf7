#pragma once

#include <imgui.h>

#include "app/gui/state/lab_state.h"
#include "viz/theme.h"

namespace sawtooth {

// Frames that Dear ImGui needs until layout and fits no longer change.
constexpr int frames_to_settle = 6;

constexpr double smallest_scale = 1, scale_step = 0.25;

// Loads the fonts; notes missing ones in the Log.
void load_fonts(LabState& lab);
ImFont* bold_font();
ImFont* number_font();

// Applies theme and scale of the lab to the styles, if they changed.
void apply_appearance(LabState& lab);

const Theme& theme_of(const LabState& lab);
ThemeChoice theme_choice(const LabState& lab);
void choose_theme(LabState& lab, ThemeChoice choice);

// The size of texts relative to a monitor at 100 %: the chosen scale, or that of the monitor.
double scale_of(const LabState& lab);
double largest_scale(const LabState& lab);
// Sets the scale; 0 follows the monitor.
void choose_scale(LabState& lab, double scale);
// The factor for lengths; the system multiplies them by Monitor::pixels as well.
double drawn_scale(const LabState& lab);

// Converts a length given at 100 % to pixels.
float units(float length);
ImVec4 colour_of(uint32_t rgb);
ImVec4 problem_colour(const LabState& lab);

}  // namespace sawtooth

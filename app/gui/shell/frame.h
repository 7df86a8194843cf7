#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The contexts of Dear ImGui and ImPlot with the fonts of the lab; each surface has its own.
class Context {
  public:
    explicit Context(LabState& lab);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

// Draws the whole window, or only one panel, which then fills it and shrinks its figures to fit unless it
// scrolls. Call between NewFrame and Render.
void draw_frame(LabState& lab, const std::string& only_panel = "", bool panel_scrolls = false);

}  // namespace sawtooth

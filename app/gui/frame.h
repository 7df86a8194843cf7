#pragma once

#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// Dear ImGui and ImPlot with the lab's fonts: one for every surface.
class Context {
  public:
    explicit Context(LabState& lab);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

// Between NewFrame and Render: the whole window; or one panel alone, which then fills it.
void draw_frame(LabState& lab, const std::string& only_panel = "");

}  // namespace sawtooth

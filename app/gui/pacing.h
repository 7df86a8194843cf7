#pragma once

#include "app/gui/lab_state.h"

namespace sawtooth {

// When the window draws: a few frames after each thing that a person does, as Dear ImGui needs some to settle; more
// slowly for the moment in which tooltips wait to come; one for what the engine sends, so that drawing leaves the
// processor to what is measured; then not until something happens or becomes due.
class Pacing {
  public:
    void happened(double now) {
        last_input_ = now;
        settling_ = frames_to_settle;
    }
    void woken() { woken_ = true; }
    void drawn(double now) {
        last_frame_ = now;
        settling_ -= settling_ > 0;
        woken_ = false;
    }

    // The time of the next frame, unless something happens before.
    double next(const LabState& lab, bool text_cursor_blinks) const;

  private:
    static constexpr int frames_to_settle = 3;
    double last_input_ = 0, last_frame_ = 0;
    int settling_ = frames_to_settle;
    bool woken_ = false;
};

}  // namespace sawtooth

#pragma once

#include <optional>

#include "app/gui/state/lab.h"

namespace sawtooth {

// Decides when the window draws. It draws at once for user actions and for outputs and times that are
// awaited. It draws less often for the settling frames of Dear ImGui and for other events of the engine, so
// that drawing does not disturb measurements. It draws slowly while a tooltip is about to appear, and once a
// second during the countdown of a worker. Otherwise it waits until something happens or becomes due.
class Pacing {
  public:
    void happened(double now) {
        last_input_ = now;
        unseen_input_ = true;
        settling_ = frames_to_settle;
    }
    void woken() { woken_ = true; }
    void drawn(const LabState& lab, double now) {
        last_frame_ = now;
        drawn_figures_ = lab.figures;
        changes_at_ = changes_at(lab);
        settling_ -= settling_ > 0;
        unseen_input_ = woken_ = false;
    }

    // The time of the next frame, unless something happens earlier.
    double next(const LabState& lab, bool text_cursor_blinks) const;

  private:
    static constexpr int frames_to_settle = 3;
    double last_input_ = 0, last_frame_ = 0;
    int settling_ = frames_to_settle;
    bool unseen_input_ = true, woken_ = false;
    Figures drawn_figures_;
    std::optional<double> changes_at_;  // that of the last frame
};

}  // namespace sawtooth

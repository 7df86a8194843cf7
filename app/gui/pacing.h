#pragma once

#include <optional>

#include "app/gui/lab.h"

namespace sawtooth {

// When the window draws: at once what a person does, and the outputs and the times that were waited for; Dear
// ImGui's few frames to settle, and what else the engine sends, only so often that drawing leaves the
// processor to what is measured; slowly for the moment in which tooltips wait to come; once a second while
// the end of a worker is counted down; then not until something happens or becomes due.
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

    // The time of the next frame, unless something happens before.
    double next(const LabState& lab, bool text_cursor_blinks) const;

  private:
    static constexpr int frames_to_settle = 3;
    double last_input_ = 0, last_frame_ = 0;
    int settling_ = frames_to_settle;
    bool unseen_input_ = true, woken_ = false;
    Figures drawn_figures_;
    std::optional<double> changes_at_;  // what was drawn last
};

}  // namespace sawtooth

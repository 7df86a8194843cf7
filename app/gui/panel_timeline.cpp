#include "app/gui/figure_view.h"
#include "app/gui/panels.h"

namespace sawtooth {

void draw_timeline(LabState& lab) {
    draw_figure_grid(lab, Place::timeline, "every launch on its track, and when each worker was busy");
}

}  // namespace sawtooth

#include "app/gui/figure_view.h"
#include "app/gui/panels.h"

namespace sawtooth {

void draw_times(LabState& lab) {
    draw_figure_grid(lab, Place::times, "the time of every variant beside the limit of the machine");
}

}  // namespace sawtooth

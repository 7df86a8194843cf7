#include "app/gui/figure_view.h"
#include "app/gui/panels.h"

namespace sawtooth {

void draw_outputs(LabState& lab) {
    draw_figure_grid(lab, Place::outputs, "the outputs of every variant over the double-precision reference");
}

void draw_error(LabState& lab) {
    draw_figure_grid(lab, Place::error, "the error of every variant against the double-precision reference");
}

void draw_views(LabState& lab) {
    draw_figure_grid(lab, Place::views, "the family's own figures and the sweeps in the background");
}

}  // namespace sawtooth

#include "app/gui/figures/figure_view.h"
#include "app/gui/panels/panels.h"

namespace sawtooth {

void draw_outputs(LabState& lab) {
    draw_figure_grid(lab, "Outputs", shown_figures(lab, Place::outputs),
                     "the outputs of every variant over the float64 reference");
}

void draw_error(LabState& lab) {
    draw_figure_grid(lab, "Error", shown_figures(lab, Place::error),
                     "the error of every variant against the float64 reference");
}

void draw_timeline(LabState& lab) {
    draw_figure_grid(lab, "Timeline", shown_figures(lab, Place::timeline),
                     "every launch on its track, and when each worker was busy");
}

}  // namespace sawtooth

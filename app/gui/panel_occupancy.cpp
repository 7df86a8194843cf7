#include <fmt/format.h>

#include "app/gui/figure_view.h"
#include "app/gui/panels.h"
#include "app/gui/widgets.h"

namespace sawtooth {

void draw_occupancy(LabState& lab) {
    if (!shown_figures(lab, Place::occupancy).empty()) {
        draw_figure_grid(lab, Place::occupancy, "theoretical and achieved occupancy");
        return;
    }
    centred_sentence(
        "Theoretical occupancy beside the achieved one, and what limits it. It needs a compiled GPU kernel, "
        "whose "
        "registers and shared memory decide it; kernels of the CPU have none.");
}

}  // namespace sawtooth

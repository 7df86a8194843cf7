#pragma once

#include <vector>

#include "app/gui/figure_view.h"

namespace sawtooth {

// One legend for all figures of a panel: its variants, which a click hides and Alt+click shows alone, then
// what else lines and areas mean.
void draw_legend(LabState& lab, const std::vector<ShownFigure>& shown);
// In pixels, at that width; 0 where there is nothing to name.
float legend_height(const LabState& lab, const std::vector<ShownFigure>& shown, float width);

}  // namespace sawtooth

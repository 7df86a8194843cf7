#pragma once

#include <vector>

#include "app/gui/figures/figure_view.h"
#include "app/gui/shell/actions.h"

namespace sawtooth {

// The id of the popup with the menu of a figure; `panel` is the panel that shows the figure.
constexpr const char* figure_menu = "figure menu";
void draw_figure_menu(LabState& lab, const std::string& panel, const ShownFigure& shown);

// Adds the menu entries of every figure to the palette.
void add_figures(const LabState& lab, std::vector<Action>& all);

// The figure of the result with that ticket (0: of a sweep) with the notes on it, and if that is the shown
// result, with the ghosts of pinned ones and the trail of earlier ones.
Figure with_marks(const LabState& lab, const Figure& figure, uint64_t ticket);

// The figure as the window draws it: with those marks and marks at the current values, and without hidden
// variants. Its caption begins with what sweeps found (`found_by_sweeps`).
Figure figure_as_drawn(const LabState& lab, const ShownFigure& shown, const std::string& found);

// A key of the figure that is the same in every panel.
std::string figure_key(const ShownFigure& shown);
// The key under which ranges and cursors are stored: the axis if plots share it, otherwise the figure.
std::string axis_key(const ShownFigure& shown);
// The name of the figure in LabState::filling.
std::string name_in(const std::string& panel, const ShownFigure& shown);

}  // namespace sawtooth

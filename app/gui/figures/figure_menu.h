#pragma once

#include <vector>

#include "app/gui/figures/figure_view.h"
#include "app/gui/shell/actions.h"

namespace sawtooth {

// The menu of a figure, in the popup that is open under this name; `panel` shows it.
constexpr const char* figure_menu = "figure menu";
void draw_figure_menu(LabState& lab, const std::string& panel, const ShownFigure& shown);

// Its entries for every figure, for the palette.
void add_figures(const LabState& lab, std::vector<Action>& all);

// The same in every panel that shows the figure.
std::string figure_key(const ShownFigure& shown);
// Ranges and cursors are stored by axis if plots share it, otherwise by figure.
std::string axis_key(const ShownFigure& shown);
// In LabState::filling.
std::string name_in(const std::string& panel, const ShownFigure& shown);

}  // namespace sawtooth

#pragma once

#include <vector>

#include "kernels/core/figures.h"

namespace sawtooth::btp {

// speed.cpp: the rate of every variant beside a copy, and the time a token of the step function beside the
// whole sequence.
std::vector<Figure> speed_figures(const Result& result);
// launches.cpp: the launches of all variants on one axis of time.
Figure launches_figure(const Result& result, const View& view);

}  // namespace sawtooth::btp

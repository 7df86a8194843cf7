#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth::lut_sequence {

// Figures over the background sweeps of the family.

// Time of both variants against sequence_length, beside the growth of the number of pairs.
std::vector<Figure> length_figures(const SweepResult& sweep);
// Time of both variants against detectors.
std::vector<Figure> detector_figures(const SweepResult& sweep);
// Time of both variants against anchors_per_detector.
std::vector<Figure> anchor_figures(const SweepResult& sweep);
// Time of unfused by kernel, with events through the buffer and through the statistic.
std::vector<Figure> event_sweep_figures(const SweepResult& sweep);

}  // namespace sawtooth::lut_sequence

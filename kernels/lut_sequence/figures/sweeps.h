#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth::lut_sequence {

// Figures over the background sweeps of the family. The figures over `arithmetic` are those of the family
// lut.

// The time of the variants and of the kernels of unfused against sequence_length, detectors or
// anchors_per_detector.
std::vector<Figure> size_figures(const SweepResult& sweep);
// The time of unfused by kernel, with events through the buffer and through the statistic.
std::vector<Figure> event_sweep_figures(const SweepResult& sweep);

}  // namespace sawtooth::lut_sequence

#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The timed repeats of every variant in a row of points, with quartiles and, from 30 repeats on, a histogram;
// times are relative to the median of the variant. Disturbed repeats are crosses.
Figure samples_figure(const Result& result);
// The launches of every variant on one time axis, with the busy workers (CPU) or running launches (GPU)
// below, and the samples.
Figure timeline_figure(const Result& result, const View& view = {});
// The rate of every variant against its operations per byte, as declared by its launches and, where counters
// were read, with the DRAM bytes they measured; below the measured limits of the machine.
Figure roofline_figure(const Result& result);
// The theoretical occupancy of one compiled launch against its registers per thread, shared memory per thread
// block and block size, each with the others as they are: that of `Request::arch` or of the GPU of the run.
// The launch is the one that takes most of the time, or without times the one with the least occupancy.
std::vector<Figure> occupancy_curve_figures(const Result& result);
// The theoretical and achieved occupancy of every kind of launch as bars, with the limit: for the chip of
// `Request::arch` if one is chosen, otherwise for the GPU of the run. After a run on the CPU without a chosen
// chip, it shows the utilisation of the workers.
Figure occupancy_figure(const Result& result);

}  // namespace sawtooth

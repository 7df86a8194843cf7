#pragma once

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The launches of every variant on one time axis, with the busy workers (CPU) or running launches (GPU)
// below, and the samples.
Figure timeline_figure(const Result& result, const View& view = {});
// The theoretical and achieved occupancy of every kind of launch as bars, with the limit: for the chip of
// `Request::arch` if one is chosen, otherwise for the GPU of the run. After a run on the CPU without a chosen
// chip, it shows the utilisation of the workers.
Figure occupancy_figure(const Result& result);

}  // namespace sawtooth

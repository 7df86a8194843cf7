#include "kernels/core/figures.h"

#include "kernels/attention/figures/flow.h"
#include "kernels/attention/parts.h"

namespace sawtooth::attention {

std::vector<Figure> figures(const Result& result, const View&) { return flow_figures(result); }

}  // namespace sawtooth::attention

#include "kernels/btp/parts.h"

// Each part that is built removes its function here.
namespace sawtooth::btp {

std::vector<FigureSweep> sweeps(const Parameters&) { return {}; }
std::vector<Figure> figures(const Result&, const View&) { return {}; }
std::vector<StoryRow> story() { return {}; }
About about() { return {}; }

}  // namespace sawtooth::btp

#include "kernels/lut/parts.h"

namespace sawtooth::lut {

Work work(const Parameters&) { return {}; }
std::vector<BenchCase> bench_cases(Backend) { return {}; }
std::vector<FigureSweep> sweeps(const Parameters&) { return {}; }
std::vector<Figure> figures(const Result&, const View&) { return {}; }
std::vector<StoryRow> story() { return {}; }
About about() { return {}; }


}  // namespace sawtooth::lut

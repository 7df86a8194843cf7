#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"

// Each part that is built removes its function here.
namespace sawtooth::btp {

std::vector<FigureSweep> sweeps(const Parameters&) { return {}; }
std::vector<Figure> speed_figures(const Result&) { return {}; }
std::vector<StoryRow> story() { return {}; }
About about() { return {}; }
Outcome<Plan> plan_sequential_on_cuda(const PlanRequest&) { return Plan{}; }
Outcome<Plan> plan_two_pass_on_cuda(const PlanRequest&) { return Plan{}; }
Outcome<Plan> plan_fused_on_cuda(const PlanRequest&) { return Plan{}; }
Outcome<Plan> plan_decode_on_cuda(const PlanRequest&) { return Plan{}; }

}  // namespace sawtooth::btp

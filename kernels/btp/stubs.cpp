#include "kernels/btp/parts.h"

// Each part that is built removes its function here.
namespace sawtooth::btp {

Outcome<Plan> plan_sequential_on_cuda(const PlanRequest&) { return Plan{}; }
Outcome<Plan> plan_two_pass_on_cuda(const PlanRequest&) { return Plan{}; }
Outcome<Plan> plan_fused_on_cuda(const PlanRequest&) { return Plan{}; }
Outcome<Plan> plan_decode_on_cuda(const PlanRequest&) { return Plan{}; }

}  // namespace sawtooth::btp

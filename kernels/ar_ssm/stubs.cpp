// Placeholders so that everything links: delete from here what you build.
#include "kernels/ar_ssm/parts.h"

namespace sawtooth::ar_ssm {
Outcome<Arrays> reference(const Parameters&, const Arrays&, std::stop_token) { return Arrays{}; }
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random,
               std::stop_token) {
    return Array::zeros(spec.name, Dtype::f32, spec.shape_for(parameters, so_far));
}
Work work(const Parameters&) { return {}; }
std::vector<BenchCase> bench_cases(Backend) { return {}; }
Outcome<Plan> plan_unfused_on_cpu(const PlanRequest&) { return Error::failure("not built yet"); }
Outcome<Plan> plan_fused_on_cpu(const PlanRequest&) { return Error::failure("not built yet"); }
Outcome<Plan> plan_unfused_on_cuda(const PlanRequest&) { return Error::failure("not built yet"); }
Outcome<Plan> plan_fused_on_cuda(const PlanRequest&) { return Error::failure("not built yet"); }
}  // namespace sawtooth::ar_ssm

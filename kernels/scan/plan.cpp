// From a Request to a plan: the same steps on both backends.

#include "kernels/core/common_parameters.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/cuda/plan_builder.h"
#include "kernels/scan/steps.h"

namespace sawtooth::scan {
namespace {

Job job_of(PlanBuilder& builder) {
    const Parameters& parameters = builder.parameters();
    const Op& op = op_of(parameters);
    Job job;
    job.op = parameters.flag("compensated") ? *op.compensated : op.op;
    job.batch = parameters.integer("batch");
    job.length = parameters.integer("length");
    job.channels = parameters.integer("channels") * (op.is_complex ? 2 : 1);
    job.block_size = block_size_of(parameters);
    job.storage = job.y_storage = storage_named(parameters.text("dtype"));
    job.x = builder.input("x", job.storage);
    if (job.op == Operator::linear) {
        job.a = builder.input("a", job.storage);
        job.initial = builder.input("initial");
    }
    job.flipped = parameters.is("direction", "reverse");
    job.y = builder.output("y", job.y_storage);
    return job;
}

template <class Builder>
void add_backward(Builder& builder, const Job& forward, void (*add)(Builder&, const Job&)) {
    const bool is_linear = forward.op == Operator::linear;
    Job gradient = forward;
    gradient.flipped = !forward.flipped;
    gradient.prefix = "gradient_";
    gradient.a_name = "shifted_a";
    gradient.x_name = "dy";
    gradient.y_name = "dx";
    gradient.initial = nullptr;
    gradient.x = builder.input("dy", forward.storage);
    gradient.y = builder.output("dx", Storage::f32);
    gradient.y_storage = Storage::f32;
    GateGradients gates{nullptr, static_cast<const float*>(gradient.y), nullptr, nullptr};
    if (is_linear) {
        gates.shifted = builder.template take<std::byte>(forward.elements() * bytes_of(forward.storage));
        gradient.a = gates.shifted;
        add_shift_gates(builder, forward, gates);
    }
    add(builder, gradient);
    if (!is_linear) return;
    gates.da = builder.output("da");
    if (forward.initial) gates.dinitial = builder.output("dinitial");
    add_gate_gradient(builder, forward, gates);
}

template <class Builder>
Outcome<Plan> plan_with(const PlanRequest& request, void (*add)(Builder&, const Job&)) {
    Builder builder(request);
    const Job job = job_of(builder);
    add(builder, job);
    if (request.parameters.is("direction", "both")) {
        Job reverse = job;
        reverse.flipped = true;
        reverse.prefix = "reverse_";
        reverse.y_name = "y_reverse";
        reverse.y = builder.output("y_reverse", job.y_storage);
        add(builder, reverse);
    }
    if (runs_backward(request.parameters)) add_backward(builder, job, add);
    return builder.finish();
}

}  // namespace

Outcome<Plan> plan_cpu(const PlanRequest& request) {
    return plan_with(request, algorithms()[request.variant.row].add_cpu);
}

Outcome<Plan> plan_cuda(const PlanRequest& request) {
    return plan_with(request, algorithms()[request.variant.row].add_cuda);
}

}  // namespace sawtooth::scan

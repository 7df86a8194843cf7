// What a Request's parameters and inputs make of the five variants on a GPU: the same steps as plans.cpp
// takes on the CPU.

#include "kernels/scan/cuda.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

using cuda::PlanBuilder;
using cuda::Storage;
using Adder = void (*)(PlanBuilder&, const DeviceJob&);

void add_backward(PlanBuilder& builder, const PlanRequest& request, const DeviceJob& forward, Adder add) {
    const Shape shape = {forward.batch, forward.length, forward.channels};
    DeviceJob gradient = forward;
    gradient.flipped = !forward.flipped;
    gradient.prefix = "gradient_";
    gradient.a_name = "shifted_a";
    gradient.x_name = "dy";
    gradient.y_name = "dx";
    gradient.initial = nullptr;
    gradient.has_initial = false;
    gradient.x = builder.input(*find(request.inputs, "dy"), forward.storage);
    gradient.y = builder.output("dx", Dtype::f32, shape);
    gradient.y_storage = Storage::as_is;
    const bool linear = forward.op == Operator::linear;
    if (linear) gradient.a = add_shifted_gates(builder, forward);
    add(builder, gradient);
    if (!linear) return;
    auto* const da = static_cast<float*>(builder.output("da", Dtype::f32, shape));
    float* dinitial = nullptr;
    if (forward.has_initial)
        dinitial =
            static_cast<float*>(builder.output("dinitial", Dtype::f32, {forward.batch, forward.channels}));
    add_gate_gradients(builder, forward, static_cast<const float*>(gradient.y), da, dinitial);
}

Outcome<Plan> plan_with(Adder add, const PlanRequest& request) {
    const Parameters& parameters = request.parameters;
    const bool complex = parameters.is("op", "complex_sum");
    const Shape shape = {parameters.integer("batch"), parameters.integer("length"),
                         parameters.integer("channels")};
    const Dtype dtype = complex ? Dtype::complex64 : Dtype::f32;

    PlanBuilder builder(request);
    DeviceJob job;
    job.op = operator_of(parameters);
    job.batch = shape[0];
    job.length = shape[1];
    job.channels = shape[2] * (complex ? 2 : 1);
    job.block_size = block_size_of(parameters);
    job.storage = job.y_storage = complex ? Storage::as_is : cuda::storage_named(parameters.text("dtype"));
    job.x = builder.input(*find(request.inputs, "x"), job.storage);
    if (job.op == Operator::linear) {
        job.a = builder.input(*find(request.inputs, "a"), job.storage);
        if (const Array* initial = find(request.inputs, "initial")) {
            job.initial = static_cast<const float*>(builder.input(*initial));
            job.has_initial = true;
        }
    }
    job.flipped = parameters.is("direction", "reverse");
    job.y = builder.output("y", dtype, shape, job.y_storage);
    add(builder, job);
    if (parameters.is("direction", "both")) {
        DeviceJob reverse = job;
        reverse.flipped = true;
        reverse.prefix = "reverse_";
        reverse.y_name = "y_reverse";
        reverse.y = builder.output("y_reverse", dtype, shape, job.y_storage);
        add(builder, reverse);
    }
    if (runs_backward(parameters)) add_backward(builder, request, job, add);
    return builder.finish();
}

}  // namespace

Outcome<Plan> plan_sequential_cuda(const PlanRequest& request) { return plan_with(add_sequential, request); }
Outcome<Plan> plan_hillis_steele_cuda(const PlanRequest& request) {
    return plan_with(add_hillis_steele, request);
}
Outcome<Plan> plan_blelloch_cuda(const PlanRequest& request) { return plan_with(add_blelloch, request); }
Outcome<Plan> plan_three_phase_cuda(const PlanRequest& request) {
    return plan_with(add_three_phase, request);
}
Outcome<Plan> plan_lookback_cuda(const PlanRequest& request) { return plan_with(add_lookback, request); }

}  // namespace sawtooth::scan

// y = a x on both backends with one variant: the schema, reference, plans and figures of a family.

#include "tests/scale/family.h"

#include "kernels/core/common_parameters.h"
#include "kernels/core/noisy.h"
#include "kernels/core/range.h"
#include "kernels/cpu/plan_builder.h"
#include "kernels/cuda/plan_builder.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/without_arrays.h"
#include "tests/scale/arguments.cuh"

namespace sawtooth {
namespace {

// 1. The parameters. A row becomes a slider, an option of `--set`, a line of `list` and an axis of sweeps.
std::vector<Parameter> parameters() {
    using enum Group;
    return {
        integer_parameter("batch", "Independent sequences.", shape, "sequences", 2, 1, 65536,
                          Step::powers_of_two, Renews::inputs),
        integer_parameter("length", "Numbers of a sequence.", shape, "numbers", 4096, 1, 1 << 28,
                          Step::powers_of_two, Renews::inputs),
        titled("factor",
               real_parameter("a", "Multiplies every number.", algorithm, 2, -10, 10, Renews::inputs)),
        choice_parameter("block_size", "Numbers that a worker or a thread block takes at once.", tiling,
                         int64_t{256}, {int64_t{64}, int64_t{256}, int64_t{1024}}, Renews::kernels),
    };
}

// 2. The arrays; a dimension is the name of a parameter.
std::vector<ArraySpec> arrays() {
    return {{.name = "x", .meaning = "What is multiplied.", .dimensions = {"batch", "length"}},
            {.name = "y", .meaning = "a x.", .role = Role::output, .dimensions = {"batch", "length"}}};
}

Array generate(const ArraySpec& row, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token) {
    Array array = Array::uninitialised(row.name, row.dtype, row.shape_for(parameters, so_far));
    for (float& value : array.as<float>()) value = static_cast<float>(random.normal());
    return array;
}

// 3. The reference, in float64 and written to be read. Noisy numbers show how far rounding moves a kernel.
template <class Real>
Outcome<Arrays> scaled(const Parameters& parameters, const Arrays& inputs) {
    const Array& x = *find(inputs, "x");
    Array y = Array::uninitialised("y", Dtype::f64, x.shape);
    for (int64_t i = 0; i < x.count(); ++i)
        y.as<double>()[static_cast<size_t>(i)] = value_of(Real(parameters.real("a")) * x.value(i).real());
    return Arrays{std::move(y)};
}

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token) {
    return scaled<double>(parameters, inputs);
}
Outcome<Arrays> definition(const DefinitionRequest& request) {
    return request.noisy ? scaled<Noisy>(request.parameters, request.inputs)
                         : scaled<double>(request.parameters, request.inputs);
}

Work work(const Parameters& parameters, const Arrays&) {
    const auto count = static_cast<double>(parameters.integer("batch") * parameters.integer("length"));
    return {8 * count, count};
}

// 4. The arrays and the launch, written once: both backends share them.
struct Tensors {
    const Parameters& parameters;
    Buffer x, y;  // both [batch, length]
};
Tensors tensors(PlanBuilder& plan) { return {plan.parameters(), plan.input("x"), plan.output("y")}; }

LaunchInfo multiply(const Tensors& t) {
    return {.name = "scale",
            .meaning = "Multiplies every number with a.",
            .reads = {t.x},
            .writes = {t.y},
            .work = work(t.parameters, {})};
}

scale::Arguments arguments(const Tensors& t) {
    return {t.x.as<float>(), t.y.as<float>(), static_cast<float>(t.parameters.real("a")),
            count_of(t.x.shape)};
}

Outcome<Plan> plan_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const Tensors t = tensors(builder);
    const scale::Arguments given = arguments(t);
    const int64_t block = t.parameters.integer("block_size");
    const Side items = pieces("B L", given.count, "block_size", block);
    builder.launch(multiply(t), items, [=](const cpu::Item& item) {
        const Range own = tile_at(item.index, block, given.count);
        for (int64_t i = own.first; i < own.last; ++i) given.y[i] = given.a * given.x[i];
    });
    return builder.finish();
}

Outcome<Plan> plan_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const Tensors t = tensors(builder);
    const int64_t block = t.parameters.integer("block_size");
    builder.launch(multiply(t), {pieces("B L", count_of(t.x.shape), "block_size", block)},
                   {.file = "tests/scale/scale.cu", .entry = "scale", .threads = block}, arguments(t));
    return builder.finish();
}

// 5. The cases of `bench`.
std::vector<BenchCase> bench_cases(Backend) {
    return {{.name = "all [2, 65536]", .values = {{"length", int64_t{65536}}}, .by_launch = true}};
}

// 6. The figures, here those that every family can have. Results of sessions have no arrays.
std::vector<Figure> figures(const Result& result, const View& view) {
    if (!has_arrays(result)) return output_without_arrays(result, view, "y", "number");
    const Array& y = *find(result.reference, "y");
    const auto line = LineChooser{scale_family(), "number", {}}.line(y, result.parameters);
    return {output_figure(result, view, y, *line), error_figure(result, view, y, *line, ErrorOf::all_lines)};
}

}  // namespace

// 7. The family; kernels/families.cpp lists it.
const Family& scale_family() {
    static const Family family = [] {
        Family made;
        made.name = "scale";
        made.title = "Scale";
        made.summary = "Multiplies every number by a.";
        made.source = "the lab's own";
        made.parameters = parameters();
        made.presets = {{"paper", {{"batch", int64_t{16}}}}};
        made.arrays = arrays();
        made.variants = {{.name = "blocks",
                          .idea = "One thread block per block of numbers.",
                          .outputs = {"y"},
                          .plan_cpu = plan_cpu,
                          .plan_cuda = plan_cuda}};
        made.generate = generate;
        made.reference = reference;
        made.definition = definition;
        made.main_output = "y";
        made.work = work;
        made.sequence_axis = "length";
        made.causal = [](const Parameters&) { return true; };
        made.bench_cases = bench_cases;
        made.figures = figures;
        return made;
    }();
    return family;
}

}  // namespace sawtooth

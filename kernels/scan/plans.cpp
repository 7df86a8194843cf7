#include "kernels/cpu/half.h"
#include "kernels/cpu/pool.h"
#include "kernels/scan/cpu.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

using cpu::Item;
using cpu::Precision;

// An input in the precision of the run: in place for f32, else narrowed into the plan's memory.
const void* input(Plan& plan, const Array& array, Precision precision) {
    if (precision == Precision::f32) return plan.share<float>(array);
    uint16_t* const narrowed = plan.take<uint16_t>(array.count());
    if (!plan.dry) cpu::narrow(precision, array.as<float>().data(), narrowed, array.count());
    return narrowed;
}

// An output as it is handed over: the plan's own memory for f32, else widened.
struct Output {
    std::string name;
    Dtype dtype;
    Shape shape;
    Precision precision;
    std::shared_ptr<std::byte[]> memory;

    Array array() const {
        if (precision == Precision::f32) return {name, dtype, shape, memory};
        Array wide = Array::uninitialised(name, dtype, shape);
        cpu::widen(precision, reinterpret_cast<const uint16_t*>(memory.get()), wide.as<float>().data(),
                   wide.count());
        return wide;
    }
};

struct Builder {
    Plan plan;
    std::vector<Output> outputs;

    void* output(std::string name, Dtype dtype, Shape shape, Precision precision) {
        const int64_t bytes =
            count_of(shape) * (precision == Precision::f32 ? bytes_of(dtype) : cpu::bytes_of(precision));
        const std::shared_ptr<std::byte[]> memory = plan.take_shared(bytes);
        outputs.push_back({std::move(name), dtype, std::move(shape), precision, memory});
        return memory.get();
    }

    Plan finish() {
        plan.outputs = [outputs = std::move(outputs)]() -> Outcome<Arrays> {
            Arrays arrays;
            for (const Output& output : outputs) arrays.push_back(output.array());
            return arrays;
        };
        return std::move(plan);
    }
};

using Adder = void (*)(Plan&, const Job&);

// Elementwise work in rows of [batch, length, channels]: one item a block of positions of one batch item.
constexpr int64_t positions_an_item = 256;

void add_rows_launch(Plan& plan, const Job& job, LaunchInfo info,
                     std::function<void(int64_t batch, int64_t step)> row) {
    const int64_t blocks = (job.length + positions_an_item - 1) / positions_an_item;
    info.grid = {job.batch * blocks, 1, 1};
    info.grid_formula = "B * ceil(L / " + std::to_string(positions_an_item) + ")";
    const auto work = [=, row = std::move(row)](const Item& item) {
        const int64_t batch = item.index / blocks;
        const int64_t first = item.index % blocks * positions_an_item;
        const int64_t last = std::min(first + positions_an_item, job.length);
        for (int64_t step = first; step < last; ++step) row(batch, step);
        const int64_t elements = (last - first) * job.channels;
        item.tally += {0, elements, elements};
    };
    plan.launches.push_back(
        {std::make_shared<LaunchInfo>(std::move(info)), [items = job.batch * blocks, work](Queue& queue) {
             queue.pool->dispatch(items, cpu::Split::contiguous, work);
         }});
}

int64_t row_at(const Job& job, int64_t batch, int64_t step) {
    const int64_t position = job.flipped ? job.length - 1 - step : step;
    return (batch * job.length + position) * job.channels;
}

// The gate that carries the gradient from a step to the one before it belongs to the later step: the reverse
// scan reads gates moved by one, with 0 where nothing comes after.
template <class Word>
Word* add_shifted_gates(Plan& plan, const Job& forward) {
    const int64_t count = forward.batch * forward.length * forward.channels;
    Word* const shifted = plan.take<Word>(count);
    const auto* const gates = static_cast<const Word*>(forward.a);
    const Shape shape = {forward.batch, forward.length, forward.channels};
    LaunchInfo info{.name = "shift_gates",
                    .meaning = "Moves every gate to the step before it, where the gradient needs it.",
                    .reads = {{"a", shape}},
                    .writes = {{"shifted_a", shape}},
                    .work = {2.0 * static_cast<double>(count) * sizeof(Word), 0}};
    add_rows_launch(plan, forward, std::move(info), [=](int64_t batch, int64_t step) {
        Word* const to = shifted + row_at(forward, batch, step);
        if (step + 1 == forward.length)
            std::fill_n(to, forward.channels, Word{});
        else
            std::copy_n(gates + row_at(forward, batch, step + 1), forward.channels, to);
    });
    return shifted;
}

// One row of values as f32, whatever they are stored in.
const float* widened_row(const void* values, Precision precision, int64_t at, int64_t count,
                         std::vector<float>& room) {
    if (precision == Precision::f32) return static_cast<const float*>(values) + at;
    room.resize(static_cast<size_t>(count));
    cpu::widen(precision, static_cast<const uint16_t*>(values) + at, room.data(), count);
    return room.data();
}

// da_t = g_t y_(t-1), dinitial = a_0 g_0.
void add_gate_gradients(Plan& plan, const Job& forward, const float* g, float* da, float* dinitial) {
    const Shape shape = {forward.batch, forward.length, forward.channels};
    const double count = static_cast<double>(count_of(shape));
    LaunchInfo info{.name = "gate_gradient",
                    .meaning = "Multiplies the gradient of every position with the output before it.",
                    .reads = {{"dx", shape}, {"y", shape}},
                    .writes = {{"da", shape}},
                    .work = {12 * count, count}};
    if (dinitial) info.writes.push_back({"dinitial", {forward.batch, forward.channels}});
    add_rows_launch(plan, forward, std::move(info), [=](int64_t batch, int64_t step) {
        thread_local std::vector<float> room, gate_room;
        const int64_t here = row_at(forward, batch, step);
        const float* const initial = forward.initial ? forward.initial + batch * forward.channels : nullptr;
        const float* const before =
            step > 0 ? widened_row(forward.y, forward.y_precision, row_at(forward, batch, step - 1),
                                   forward.channels, room)
                     : initial;
        for (int64_t c = 0; c < forward.channels; ++c) da[here + c] = before ? g[here + c] * before[c] : 0;
        if (step != 0 || !dinitial) return;
        const float* const gate =
            widened_row(forward.a, forward.precision, here, forward.channels, gate_room);
        for (int64_t c = 0; c < forward.channels; ++c)
            dinitial[batch * forward.channels + c] = gate[c] * g[here + c];
    });
}

void add_backward(Builder& builder, const PlanRequest& request, const Job& forward, Adder add) {
    const Shape shape = {forward.batch, forward.length, forward.channels};
    const bool linear = forward.op == Operator::linear;
    Job gradient = forward;
    gradient.flipped = !forward.flipped;
    gradient.prefix = "gradient_";
    gradient.a_name = "shifted_a";
    gradient.x_name = "dy";
    gradient.y_name = "dx";
    gradient.initial = nullptr;
    gradient.x = input(builder.plan, *find(request.inputs, "dy"), forward.precision);
    gradient.y = builder.output("dx", Dtype::f32, shape, Precision::f32);
    gradient.y_precision = Precision::f32;
    if (linear)
        gradient.a = forward.precision == Precision::f32
                         ? static_cast<const void*>(add_shifted_gates<float>(builder.plan, forward))
                         : add_shifted_gates<uint16_t>(builder.plan, forward);
    add(builder.plan, gradient);
    if (!linear) return;
    auto* const da = static_cast<float*>(builder.output("da", Dtype::f32, shape, Precision::f32));
    float* dinitial = nullptr;
    if (find(request.inputs, "initial"))
        dinitial = static_cast<float*>(
            builder.output("dinitial", Dtype::f32, {forward.batch, forward.channels}, Precision::f32));
    add_gate_gradients(builder.plan, forward, static_cast<const float*>(gradient.y), da, dinitial);
}

Plan plan_with(Adder add, const PlanRequest& request) {
    const Parameters& parameters = request.parameters;
    const bool complex = parameters.is("op", "complex_sum");
    const Precision precision = complex ? Precision::f32 : cpu::precision_named(parameters.text("dtype"));
    const Shape shape = {parameters.integer("batch"), parameters.integer("length"),
                         parameters.integer("channels")};
    const Dtype dtype = complex ? Dtype::complex64 : Dtype::f32;

    Builder builder;
    builder.plan.dry = request.dry;
    Job job;
    job.op = operator_of(parameters);
    job.batch = shape[0];
    job.length = shape[1];
    job.channels = shape[2] * (complex ? 2 : 1);
    job.block_size = block_size_of(parameters);
    job.precision = job.y_precision = precision;
    job.x = input(builder.plan, *find(request.inputs, "x"), precision);
    if (job.op == Operator::linear) {
        job.a = input(builder.plan, *find(request.inputs, "a"), precision);
        if (const Array* initial = find(request.inputs, "initial"))
            job.initial = builder.plan.share<float>(*initial);
    }
    job.flipped = parameters.is("direction", "reverse");
    job.y = builder.output("y", dtype, shape, precision);
    add(builder.plan, job);
    if (parameters.is("direction", "both")) {
        Job reverse = job;
        reverse.flipped = true;
        reverse.prefix = "reverse_";
        reverse.y_name = "y_reverse";
        reverse.y = builder.output("y_reverse", dtype, shape, precision);
        add(builder.plan, reverse);
    }
    if (runs_backward(parameters)) add_backward(builder, request, job, add);
    return builder.finish();
}

}  // namespace

Plan plan_sequential(const PlanRequest& request) { return plan_with(add_sequential, request); }
Plan plan_hillis_steele(const PlanRequest& request) { return plan_with(add_hillis_steele, request); }
Plan plan_blelloch(const PlanRequest& request) { return plan_with(add_blelloch, request); }
Plan plan_three_phase(const PlanRequest& request) { return plan_with(add_three_phase, request); }
Plan plan_lookback(const PlanRequest& request) { return plan_with(add_lookback, request); }

}  // namespace sawtooth::scan

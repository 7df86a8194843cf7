#include "kernels/core/common_parameters.h"

#include <algorithm>
#include <utility>

namespace sawtooth {
namespace {

Parameter with_condition(Condition condition, Parameter row) {
    row.applies.push_back(std::move(condition));
    return row;
}

bool is_one_of(const std::vector<Value>& values, const Value& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

std::string alternatives(const std::vector<Value>& values) {
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
        text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + to_text(values[i]);
    return text;
}

Parameter only_for(std::string name, std::vector<Value> values, Parameter row) {
    std::string words = "only for " + name + " " + alternatives(values);
    const auto holds = [name, values = std::move(values)](const Parameters& p, Backend) {
        return is_one_of(values, p.at(name));
    };
    return with_condition({holds, std::move(words), std::move(name)}, std::move(row));
}

Parameter not_for(std::string name, std::vector<Value> values, Parameter row) {
    std::string words = "not for " + name + " " + alternatives(values);
    const auto holds = [name, values = std::move(values)](const Parameters& p, Backend) {
        return !is_one_of(values, p.at(name));
    };
    return with_condition({holds, std::move(words), std::move(name)}, std::move(row));
}

Parameter only_on_cuda(Parameter row) {
    const auto holds = [](const Parameters&, Backend backend) { return backend == Backend::cuda; };
    return with_condition({holds, "only on CUDA"}, std::move(row));
}

Parameter only_backward(Parameter row) {
    const auto holds = [](const Parameters& parameters, Backend) { return runs_backward(parameters); };
    return with_condition({holds, "only in the backward pass"}, std::move(row));
}

Parameter ends_at(End end, Parameter row) {
    row.end = std::move(end);
    return row;
}

Parameter ends_at(std::string name, int64_t less, Parameter row) {
    std::string words = less == 0 ? name : name + " - " + std::to_string(less);
    const auto value = [name = std::move(name), less](const Parameters& p) { return p.integer(name) - less; };
    return ends_at({value, std::move(words)}, std::move(row));
}

Parameter ends_at(std::string name, Parameter row) { return ends_at(std::move(name), 0, std::move(row)); }

Parameter size_parameter(std::string name, std::string meaning, std::string unit, int64_t initial,
                         int64_t most) {
    return integer_parameter(std::move(name), std::move(meaning), Group::shape, std::move(unit), initial, 1,
                             most, Step::powers_of_two, Renews::inputs);
}

Parameter backward_parameter() {
    return choice_parameter(
        "backward",
        "Also compute gradients. auto: only if the input file contains the gradient of the output.",
        Group::algorithm, "auto", {"auto", true, false}, Renews::inputs);
}

void settle_backward(Parameters& parameters, const Arrays& given, std::string_view gradient) {
    settle_automatic(parameters, "backward", find(given, gradient) != nullptr);
}

bool runs_backward(const Parameters& parameters) { return parameters.at("backward") == Value(true); }

Work work_of(const Family& family, const Variant& variant, const Parameters& parameters,
             const Arrays& inputs) {
    if (!parameters.has("backward") || !runs_backward(parameters)) return family.work(parameters, inputs);
    Parameters forward = parameters;
    forward.set("backward", false);
    const bool has_gradient =
        std::any_of(variant.outputs.begin(), variant.outputs.end(), [&](const std::string& output) {
            const ArraySpec& row = *family.array(output);
            return row.is_used(parameters) && !row.is_used(forward);
        });
    return family.work(has_gradient ? parameters : forward, inputs);
}

Work work_of(const Family& family, const Variant& variant, const Parameters& parameters, const Arrays& inputs,
             const Plan& plan) {
    Work work = work_of(family, variant, parameters, inputs);
    double done = 0;
    for (const Launch& launch : plan.launches) done += launch.info->work.operations;
    work.operations = std::min(work.operations, done);
    return work;
}

double bytes_of_given(const Arrays& arrays, std::initializer_list<std::string_view> names) {
    double bytes = 0;
    for (const std::string_view name : names)
        if (const Array* const array = find(arrays, name)) bytes += static_cast<double>(array->bytes());
    return bytes;
}

ArraySpec array_row(Role role, std::string name, std::string meaning, std::vector<std::string> dimensions,
                    bool (*used)(const Parameters&), Shape (*shape)(const Parameters&, const Arrays&)) {
    return {.name = std::move(name),
            .meaning = std::move(meaning),
            .role = role,
            .dimensions = std::move(dimensions),
            .shape = shape,
            .used = used};
}

ArraySpec gradient_of(const ArraySpec& input, bool (*used)(const Parameters&)) {
    return {.name = "d" + input.name,
            .meaning = "Gradient of " + input.name + ".",
            .role = Role::output,
            .dimensions = input.dimensions,
            .shape = input.shape,
            .used = used,
            .rounded = false};
}

Parameter drawn_parameter(std::string name, const std::string& unit, std::string dimension, int64_t most) {
    return ends_at(std::move(dimension), 1,
                   integer_parameter(std::move(name),
                                     "The " + unit + " shown in figures; the last one if there are fewer.",
                                     Group::run, unit, 0, 0, most, Step::linear, Renews::figures));
}

Parameter dtype_parameter(std::string initial, std::vector<Value> choices) {
    return choice_parameter("dtype", "Number format of inputs and outputs inside the kernels.",
                            Group::numerics, std::move(initial), std::move(choices), Renews::inputs);
}

Parameter cited(std::string source, Parameter row) {
    row.source = std::move(source);
    return row;
}

Parameter titled(std::string title, Parameter row) {
    row.title = std::move(title);
    return row;
}

Parameter automatic(Parameter row) {
    row.word = "auto";
    row.initial = std::string("auto");
    return row;
}

void settle_automatic(Parameters& parameters, std::string_view name, Value value) {
    if (parameters.is(name, "auto")) parameters.set(std::string(name), std::move(value));
}

}  // namespace sawtooth

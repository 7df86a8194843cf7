#include "kernels/core/common_parameters.h"

#include <utility>

namespace sawtooth {

Parameter backward_parameter() {
    return choice_parameter(
        "backward", "Whether the gradients are computed too; auto: where the output's gradient is given.",
        Group::algorithm, "auto", {"auto", true, false}, Renews::inputs);
}

void settle_backward(Parameters& parameters, const Arrays& given, std::string_view gradient) {
    settle_automatic(parameters, "backward", find(given, gradient) != nullptr);
}

bool runs_backward(const Parameters& parameters) { return parameters.at("backward") == Value(true); }

ArraySpec gradient_of(const ArraySpec& input, bool (*used)(const Parameters&)) {
    return {.name = "d" + input.name,
            .meaning = "The gradient of " + input.name + ".",
            .role = Role::output,
            .dimensions = input.dimensions,
            .shape = input.shape,
            .used = used};
}

Parameter dtype_parameter(std::string initial, std::vector<Value> choices) {
    return choice_parameter("dtype", "What inputs are rounded to and outputs are stored in.", Group::numerics,
                            std::move(initial), std::move(choices), Renews::inputs);
}

Parameter cited(std::string source, Parameter row) {
    row.source = std::move(source);
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

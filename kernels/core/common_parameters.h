#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth {

// Rows that several families have.

// auto, true or false; settled it is a boolean.
Parameter backward_parameter();
// Settles `backward`: an automatic one is true where the output's gradient is given.
void settle_backward(Parameters& parameters, const Arrays& given, std::string_view gradient);
// Does the backward pass run? For `used` of a gradient; false while `backward` is not settled.
bool runs_backward(const Parameters& parameters);

// The output that holds the gradient of an input: "d" and its name, in f32.
ArraySpec gradient_of(const ArraySpec& input, bool (*used)(const Parameters&));

// What inputs are rounded to and outputs stored in.
Parameter dtype_parameter(std::string initial, std::vector<Value> choices);

// The row, which matters only where parameter `name` has one of the values; where it has none of them; with
// the backend cuda; where the backward pass runs.
Parameter only_for(std::string name, std::vector<Value> values, Parameter row);
Parameter not_for(std::string name, std::vector<Value> values, Parameter row);
Parameter only_on_cuda(Parameter row);
Parameter only_backward(Parameter row);
// The row, whose values above the parameter `name` less `less` act as that.
Parameter ends_at(std::string name, Parameter row);
Parameter ends_at(std::string name, int64_t less, Parameter row);
Parameter ends_at(End end, Parameter row);

// The row with its source; the row that also takes "auto", which is its default.
Parameter cited(std::string source, Parameter row);
Parameter automatic(Parameter row);
// The value an automatic parameter takes; one that was set stays.
void settle_automatic(Parameters& parameters, std::string_view name, Value value);

}  // namespace sawtooth

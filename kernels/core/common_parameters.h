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

// The row with its source; the row that also takes "auto", which is its default.
Parameter cited(std::string source, Parameter row);
Parameter automatic(Parameter row);
// The value an automatic parameter takes; one that was set stays.
void settle_automatic(Parameters& parameters, std::string_view name, Value value);

}  // namespace sawtooth

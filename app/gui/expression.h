#pragma once

#include <string_view>

#include "kernels/core/parameter.h"

namespace sawtooth {

// What may be typed where a number is wanted: + - * / and parentheses, numbers as 4096 or 1e-4, and k, M, G
// behind a number for 1024, 1024^2, 1024^3 ("2k"). The error says in words what was not understood.
Outcome<double> evaluate(std::string_view text);

// The number as a value of the row's type: a whole one where that is integer.
Value number_value(const Parameter& row, double number);

// A value of the parameter from what was typed: its own spelling, else an expression.
Outcome<Value> parse_typed(const Parameter& row, std::string_view text);

}  // namespace sawtooth

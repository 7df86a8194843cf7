#pragma once

#include <string_view>

#include "kernels/core/parameter.h"

namespace sawtooth {

// Evaluates typed numbers: + - * / and parentheses, numbers like 4096 or 1e-4, and the suffixes k, M, G for
// 1024, 1024^2, 1024^3 ("2k"). The error says what is invalid.
Outcome<double> evaluate(std::string_view text);

// The number as a value of the row's type; rounded for integers.
Value number_value(const Parameter& row, double number);

// A value of the parameter from typed text: its own spelling, or an expression.
Outcome<Value> parse_typed(const Parameter& row, std::string_view text);

}  // namespace sawtooth

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/parameter.h"

// What is typed for parameters and their values: the same on the command line and in the window.
// `Parameter::parse` reads one value.

namespace sawtooth {

// Evaluates typed numbers: + - * / and parentheses, numbers like 4096 or 1e-4, and the suffixes k, M, G for
// 1024, 1024^2, 1024^3 ("2k"). The error says what is invalid.
Outcome<double> evaluate(std::string_view text);

// The number as a value of the row's type; rounded for integers.
Value number_value(const Parameter& row, double number);

// The parameter with that name or title, in which spaces may be underscores; null if there is none, or if it
// is the title of several.
const Parameter* find_parameter(const Family& family, std::string_view typed);
// "hads is not a parameter of attention. Did you mean heads? Parameters: Z (sequences), H (heads), N, …"
std::string no_such_parameter(std::string_view typed, const Family& family);
// "H (heads)", "rule"
std::string name_and_title(const Parameter& row);

// The values of a sweep, comma separated, each of them once: values and ranges. A range is FIRST..LAST,
// FIRST..LASTxFACTOR ("16..256x2") or FIRST..LAST+STEP ("64..512+64"). Without factor and step it has both
// ends and between them all powers of two, or about eight even steps; or all choices from the one to the
// other.
Outcome<std::vector<Value>> parse_values(const Parameter& row, std::string_view text);
// Text that parse_values reads as these values: a range if one does.
std::string range_text(const Parameter& row, const std::vector<Value>& values);

}  // namespace sawtooth

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/parameter.h"

// Reads what is typed for parameters and their values, on the command line and in the window alike.
// `Parameter::parse` reads one value.

namespace sawtooth {

// Evaluates typed numbers: + - * / ^ and parentheses, numbers like 4096 or 1e-4, and the suffixes k, M, G for
// 1024, 1024^2, 1024^3 ("2k"). The error says what is invalid.
Outcome<double> evaluate(std::string_view text);

// The number of an integer or a real value; nullopt of others.
std::optional<double> as_number(const Value& value);
// Returns the number as a value of the row's type; rounded for integers.
Value number_value(const Parameter& row, double number);

// Returns the parameter with that name or title, in which spaces may be underscores; null if there is none,
// or if several have that title.
const Parameter* find_parameter(const Family& family, std::string_view typed);
// "hads is not a parameter of attention. Did you mean heads? Parameters: Z (sequences), H (heads), N, …"
std::string no_such_parameter(std::string_view typed, const Family& family);
// "H (heads)", "rule"
std::string name_and_title(const Parameter& row);

constexpr size_t most_swept_values = 1000;  // of an axis

// Reads the values of a sweep, a comma-separated list of values and ranges; a repeated value counts once. A
// range is FIRST..LAST, FIRST..LASTxFACTOR ("16..256x2") or FIRST..LAST+STEP ("64..512+64"). Without factor
// and step a range has both ends and all powers of two between them, or about eight even steps, of values up
// to 1 such as gates even in 1 - value; of choices, all from the first to the last.
Outcome<std::vector<Value>> parse_values(const Parameter& row, std::string_view text);
// Returns text that parse_values reads as these values; a range if possible.
std::string range_text(const Parameter& row, const std::vector<Value>& values);

}  // namespace sawtooth

#pragma once

#include <string_view>
#include <vector>

#include "kernels/core/parameter.h"
#include "kernels/core/request.h"

namespace sawtooth {

// The rows for settings of a Request that are not parameters of a family: seed, repeats, cache, profile,
// threads, time limit.
const std::vector<Parameter>& run_rows();

// Gets and sets the value of a row of run_rows() in the Request.
Value run_value(const Request& request, std::string_view row);
void set_run_value(Request& request, std::string_view row, const Value& value);

bool is_run_row(const Parameter& row);  // the row is not a parameter of a family

int cores();  // the number of threads that `auto` means

}  // namespace sawtooth

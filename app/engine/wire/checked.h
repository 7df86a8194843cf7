#pragma once

#include <memory>

#include "app/engine/check/report.h"
#include "kernels/core/family.h"

namespace sawtooth {

// Checks what the other end of a conversation sends before anything uses it: either end may be any program.

// The answer of a worker. Takes nothing from the worker's Request, and agrees with the schema of the family.
// Failure: what does not agree.
Outcome<std::shared_ptr<const Result>> checked_result(const Result& answer, const Request& asked);
// The answer for a cell, whose values must be those of the sweep.
Outcome<SweepCell> checked_cell(const SweepCell& answer, const Sweep& sweep, size_t cell);

// The answer for a check, whose Requests may differ from the client's only in what a battery draws.
Outcome<CheckReport> checked_report(const CheckReport& answer, const CheckRequest& asked);

// Checks the numbers of a Request that no schema checks. Usage errors, in the words of the command line.
std::optional<Error> check_numbers(const Request& request);
// Checks that figures of this family can be redrawn like this: only parameters that choose what is drawn may
// differ.
std::optional<Error> check_look(const Family& family, const View& view, const Parameters& figure_parameters);

}  // namespace sawtooth

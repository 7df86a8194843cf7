#pragma once

#include <memory>

#include "app/engine/check/report.h"
#include "kernels/core/family.h"

namespace sawtooth {

// What the other end of a conversation sends, checked before anything uses it: either end may be any program.

// The answer of a worker. It keeps nothing of the worker's Request and agrees with the schema of the family.
// Failure: what does not agree.
Outcome<std::shared_ptr<const Result>> checked_result(const Result& answer, const Request& asked);
// The same for a cell, whose values are those of the sweep.
Outcome<SweepCell> checked_cell(const SweepCell& answer, const Sweep& sweep, size_t cell);

// The same for a check: its Requests are those of the client but for what a battery draws.
Outcome<CheckReport> checked_report(const CheckReport& answer, const CheckRequest& asked);

// The numbers of a Request that no schema checks. Usage errors, in the words of the command line.
std::optional<Error> check_numbers(const Request& request);
// Whether figures of this family can be redrawn so: only parameters that choose what is drawn may differ.
std::optional<Error> check_look(const Family& family, const View& view, const Parameters& figure_parameters);

}  // namespace sawtooth

#pragma once

#include <optional>
#include <string>

#include "app/cli/arguments.h"
#include "app/cli/settings.h"
#include "kernels/core/sweep.h"

namespace sawtooth::cli {

// The first wrong result, with the parameter values of its cell; "" if there is none.
std::string first_wrong(const SweepResult& result);

// What can be told of a complete sweep: one line per variant that says where it is fastest. "" if
// there is nothing to tell.
std::string best_lines(const SweepResult& result);

// Prints a sweep and writes its files, as the options --json, --export and those of settle_files say. Returns
// the exit code: that of `error`, which is printed last; 4 if a result is wrong.
int write_sweep(const Arguments& arguments, const TableFiles& files, const SweepResult& result,
                const std::optional<Error>& error);

}  // namespace sawtooth::cli

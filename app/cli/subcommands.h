#pragma once

#include "app/cli/arguments.h"

namespace sawtooth::cli {

// Each subcommand has its own file and returns the exit code.
int list(const Arguments& arguments);
int run(const Arguments& arguments);
int sweep(const Arguments& arguments);
int check(const Arguments& arguments);
int report(const Arguments& arguments);
int report_session(const Arguments& arguments);  // report --from
int bench(const Arguments& arguments);
int bench_verdicts(const Arguments& arguments);
int devices(const Arguments& arguments);
int worker(const Arguments& arguments);

}  // namespace sawtooth::cli

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/check/report.h"
#include "app/engine/machine/devices.h"
#include "app/engine/tables/bench.h"
#include "app/engine/tables/bench_verdicts.h"
#include "kernels/core/family.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Each of these functions makes one document in the format of the command line. Unknown values are null; nan
// and inf are strings.
std::string to_json(const Result& result);
std::string to_json(const SweepResult& result);
// The fastest correct values of every variant, with their time and all parameters in effect.
std::string tuned_json(const SweepResult& result);
std::string to_json(const BenchReport& report);
std::string to_json(const VerdictBench& bench);
std::string to_json(const std::vector<CheckReport>& reports);
std::string to_json(const Devices& devices);
std::string families_json(const std::vector<const Family*>& families);
// {"written": [paths]}: the --json output of subcommands that write files.
std::string written_json(const std::vector<std::string>& paths);

}  // namespace sawtooth

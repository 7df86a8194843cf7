#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/bench.h"
#include "app/engine/devices.h"
#include "kernels/core/family.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// One document each, as the command line page fixes them. Unknown values are null; nan and inf are strings.
std::string to_json(const Result& result);
std::string to_json(const SweepResult& result);
std::string to_json(const BenchReport& report);
std::string to_json(const Devices& devices);
std::string families_json(const std::vector<const Family*>& families);
// {"written": [paths]}: what a subcommand that makes files says with --json.
std::string written_json(const std::vector<std::string>& paths);

// The machine's ceilings as they are kept between runs; nullopt for a file that is not one.
std::string ceilings_json(const Ceilings& ceilings);
std::optional<Ceilings> parse_ceilings(const std::string& text);

}  // namespace sawtooth

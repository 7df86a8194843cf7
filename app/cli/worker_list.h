#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cli {

constexpr size_t most_workers = 1000;  // each has a thread and three pipes

// The commands of a file for --on-file: one a line, without the spaces around it; empty lines and those that
// begin with # are left out. Usage errors: the file cannot be read, or has no command.
Outcome<std::vector<std::string>> read_workers(const std::string& path);
std::vector<std::string> parse_workers(std::string_view text);

}  // namespace sawtooth::cli

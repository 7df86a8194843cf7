#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cli {

enum class Command { window, list, run, sweep, check, report, open, shot, bench, devices, worker };

// The command line after parsing: options are checked, their values are still text.
struct Arguments {
    Command command = Command::window;
    std::string target;                 // the folder of report, the session of open, the picture of shot
    std::vector<std::string> families;  // run and sweep have exactly one
    std::map<std::string, std::vector<std::string>>
        options;  // by name: --set has several values, a flag has none

    bool has(const std::string& option) const { return options.contains(option); }
    // The value of an option that is given at most once; "" when it is absent.
    std::string value(const std::string& option) const {
        const auto found = options.find(option);
        return found == options.end() || found->second.empty() ? "" : found->second.front();
    }
    std::vector<std::string> values(const std::string& option) const {
        const auto found = options.find(option);
        return found == options.end() ? std::vector<std::string>() : found->second;
    }
};

// The arguments, or the answer to --help and --version.
struct Reading {
    Arguments arguments;
    std::string answer;
};

Outcome<Reading> read_arguments(int argc, const char* const* argv);

}  // namespace sawtooth::cli

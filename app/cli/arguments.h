#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/core/refusal.h"

namespace sawtooth::cli {

enum class Command { window, list, run, sweep, report, shot, bench, devices, worker };

// The command line as it was typed: which options may stand where is settled, their values are still text.
struct Arguments {
    Command command = Command::window;
    std::string target;                 // of report the folder, of shot the picture
    std::vector<std::string> families;  // of run and sweep exactly one
    std::map<std::string, std::vector<std::string>>
        options;  // by name: "--set" holds several values, a flag none

    bool has(const std::string& option) const { return options.contains(option); }
    // The value of an option that is given at most once, "" where it is not.
    std::string value(const std::string& option) const {
        const auto found = options.find(option);
        return found == options.end() || found->second.empty() ? "" : found->second.front();
    }
    std::vector<std::string> values(const std::string& option) const {
        const auto found = options.find(option);
        return found == options.end() ? std::vector<std::string>() : found->second;
    }
};

// Arguments, or a text that answers `--help` and `--version`.
struct Reading {
    Arguments arguments;
    std::string answer;
};

Outcome<Reading> read_arguments(int argc, const char* const* argv);

}  // namespace sawtooth::cli

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments.h"

// The one table of the command line: parsing, --help, the man page and shell completion are all made from it.
namespace sawtooth::cli {

struct CommandRow {
    Command command;
    const char* name;
    const char* meaning;
};

constexpr unsigned bit(Command command) { return 1u << static_cast<unsigned>(command); }

enum class Takes { nothing, one, several };

struct OptionRow {
    const char* name;
    Takes takes;
    const char* value;    // its name, or the choices: "cold|hot"
    const char* meaning;  // the default in brackets
    unsigned commands;
};

// Arguments that are not options. Those of one command follow each other in the order of the table.
struct PositionalRow {
    Command command;
    const char* name;
    Takes takes;  // `several` accepts none, too
    const char* meaning;
};

std::span<const CommandRow> commands();
std::span<const OptionRow> options();
std::span<const PositionalRow> positionals();

const char* name_of(Command command);  // "sawtooth" for the window
const OptionRow* find_option(Command command, std::string_view name);
// The choices of an option; empty if it takes any text.
std::vector<std::string> choices_of(const OptionRow& row);

}  // namespace sawtooth::cli

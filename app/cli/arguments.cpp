#include "app/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "app/cli/argument_tables.h"
#include "app/engine/identity.h"
#include "app/engine/run/configure.h"
#include "kernels/core/nearest.h"

namespace sawtooth::cli {
namespace {

// CLI11 writes the parsed values here, so this must outlive the parsing.
struct Slots {
    std::map<std::string, std::vector<std::string>> options, lists;  // lists: the positional arguments
    std::map<std::string, std::string> words;
    std::map<std::string, bool> flags;
};

void add_options(CLI::App& app, Command command, Slots& slots) {
    for (const OptionRow& row : options()) {
        if (!(row.commands & bit(command))) continue;
        if (row.takes == Takes::nothing) {
            app.add_flag(row.name, slots.flags[row.name], row.meaning);
            continue;
        }
        CLI::Option* option = app.add_option(row.name, slots.options[row.name], row.meaning);
        option->type_name(row.value)->expected(1)->allow_extra_args(false);
        option->multi_option_policy(row.takes == Takes::several ? CLI::MultiOptionPolicy::TakeAll
                                                                : CLI::MultiOptionPolicy::Throw);
    }
}

void add_positionals(CLI::App& app, Command command, Slots& slots) {
    for (const PositionalRow& row : positionals()) {
        if (row.command != command) continue;
        CLI::Option* const option = row.takes == Takes::one
                                        ? app.add_option(row.name, slots.words[row.name], row.meaning)
                                        : app.add_option(row.name, slots.lists[row.name], row.meaning);
        option->type_name("")->required(row.takes == Takes::one);
    }
}

std::string help_of(Command command) {
    return command == Command::window ? "sawtooth --help"
                                      : "sawtooth " + std::string(name_of(command)) + " --help";
}

// "--csv is not an option of run; it belongs to sweep, bench"
Error unknown_option(Command command, const std::string& name) {
    Names own, others;
    for (const OptionRow& row : options())
        if (row.commands & bit(command)) own.emplace_back(row.name);
    for (const CommandRow& row : commands())
        if (find_option(row.command, name)) others.emplace_back(row.name);
    const std::string where = command == Command::window ? "the window" : name_of(command);
    if (!others.empty())
        return Error::usage(name + " is not an option of " + where + "; it belongs to " + listed(others));
    return Error::usage(name + " is not an option of " + where + "." + suggestion(name, own) + " See " +
                        help_of(command));
}

int most_positionals(Command command) {
    int most = 0;
    for (const PositionalRow& row : positionals()) {
        if (row.command != command) continue;
        if (row.takes == Takes::several) return std::numeric_limits<int>::max();
        ++most;
    }
    return most;
}

// Names the first word that is not accepted.
Error unexpected_word(Command command, const std::vector<std::string>& words) {
    int positionals = 0;
    for (size_t i = command == Command::window ? 0 : 1; i < words.size(); ++i) {
        const std::string name = words[i].substr(0, words[i].find('='));
        if (!words[i].starts_with('-') || words[i] == "-") {
            if (++positionals > most_positionals(command))
                return Error::usage("unexpected argument: " + words[i] + ". See " + help_of(command));
            continue;
        }
        const OptionRow* const row = find_option(command, name);
        if (!row) return unknown_option(command, name);
        if (row->takes != Takes::nothing && name == words[i]) ++i;
    }
    return Error::usage("unexpected argument. See " + help_of(command));
}

Error missing_positional(Command command) {
    const char* what = command == Command::shot     ? "FILE.png, the picture to write"
                       : command == Command::report ? "DIR, the folder to write to"
                       : command == Command::open   ? "FILE.sawtooth, the session to open"
                                                    : "FAMILY, one of ";
    std::string families;
    if (command == Command::run || command == Command::sweep)
        for (const Family* family : offered_families())
            families += (families.empty() ? "" : ", ") + family->name;
    return Error::usage(std::string(name_of(command)) + " needs " + what + families);
}

// "--seed: 1 required N missing", "--seed: At Most 1 required but received 2"
Error wrong_count(Command command, const std::string& words) {
    const std::string name = words.substr(0, words.find(':'));
    const OptionRow* const row = find_option(command, name);
    if (words.find("received") != std::string::npos) return Error::usage(name + " is given more than once");
    return Error::usage(name + " needs a value" + (row ? std::string(": ") + row->value : ""));
}

// No option and no name of a file accepts an empty text; an empty family is refused with the names of all.
std::optional<Error> check_not_empty(const Arguments& arguments, const Slots& slots) {
    for (const auto& [name, values] : arguments.options)
        if (std::find(values.begin(), values.end(), "") != values.end())
            return Error::usage(name + " needs a value, not an empty text");
    for (const auto& [name, value] : slots.words)
        if (name != "FAMILY" && value == "") return missing_positional(arguments.command);
    const bool has_empty_file =
        std::find(arguments.files.begin(), arguments.files.end(), "") != arguments.files.end();
    if (has_empty_file) return Error::usage("the name of a file is an empty text");
    return {};
}

Arguments gathered(Command command, const Slots& slots) {
    Arguments arguments;
    arguments.command = command;
    for (const auto& [name, values] : slots.lists)
        (name == "FAMILY" ? arguments.families : arguments.files) = values;
    for (const auto& [name, value] : slots.words)
        if (name == "FAMILY")
            arguments.families = {value};
        else
            arguments.target = value;
    for (const auto& [name, values] : slots.options)
        if (!values.empty()) arguments.options[name] = values;
    for (const auto& [name, given] : slots.flags)
        if (given) arguments.options[name] = {};
    return arguments;
}

}  // namespace

Outcome<Reading> read_arguments(int argc, const char* const* argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    Command command = Command::window;
    Names names;
    for (const CommandRow& row : commands()) {
        names.emplace_back(row.name);
        if (!words.empty() && words.front() == row.name) command = row.command;
    }
    if (command == Command::window && !words.empty() && !words.front().starts_with('-'))
        return Error::usage(no_such_name(words.front(), "a subcommand", "Subcommands", names));

    CLI::App app(
        "Sawtooth, a live laboratory for sequence kernels. Without a subcommand it opens the window.",
        "sawtooth");
    app.set_version_flag("--version", std::string("sawtooth ") + build_identity(), "print the version");
    app.set_help_flag("-h,--help", "print this help");
    app.require_subcommand(0, 1);
    std::map<Command, Slots> slots;
    add_options(app, Command::window, slots[Command::window]);
    std::map<Command, CLI::App*> subcommands;
    for (const CommandRow& row : commands()) {
        CLI::App* subcommand = app.add_subcommand(row.name, row.meaning);
        subcommand->set_help_flag("-h,--help", "print this help");
        add_positionals(*subcommand, row.command, slots[row.command]);
        add_options(*subcommand, row.command, slots[row.command]);
        subcommands[row.command] = subcommand;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return Reading{{}, app.help()};
    } catch (const CLI::CallForVersion& version) {
        return Reading{{}, std::string(version.what()) + "\n"};
    } catch (const CLI::ExtrasError&) {
        return unexpected_word(command, words);
    } catch (const CLI::RequiredError&) {
        return missing_positional(command);
    } catch (const CLI::ArgumentMismatch& error) {
        return wrong_count(command, error.what());
    } catch (const CLI::ParseError& error) {
        return Error::usage(error.what());
    }
    // CLI11 accepts options of the window before a subcommand; they would be ignored.
    for (const auto& [candidate, subcommand] : subcommands)
        if (subcommand->parsed() && candidate != command)
            return Error::usage(words.front() + " must come after the subcommand");
    Arguments arguments = gathered(command, slots[command]);
    if (const auto error = check_not_empty(arguments, slots[command])) return *error;
    return Reading{std::move(arguments), ""};
}

}  // namespace sawtooth::cli

#include "app/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

namespace sawtooth::cli {
namespace {

struct CommandRow {
    Command command;
    const char* name;
    const char* meaning;
};
constexpr CommandRow command_rows[] = {
    {Command::list, "list", "families, their variants, backends and parameters"},
    {Command::run, "run", "runs one configuration and prints times and errors of every variant"},
    {Command::sweep, "sweep", "runs a grid over one or two parameters"},
    {Command::report, "report",
     "runs families at their defaults and writes DIR/index.html with figures and tables"},
    {Command::shot, "shot", "draws the window into a picture, without a display"},
    {Command::bench, "bench", "runs the fixed cases of families beside the limit of the machine"},
    {Command::devices, "devices", "processors and GPUs, and whether their counters can be read"},
    {Command::worker, "worker", "computes for another sawtooth, on its standard input and output (--on)"},
};

constexpr unsigned bit(Command command) { return 1u << static_cast<unsigned>(command); }
constexpr unsigned window = bit(Command::window), list = bit(Command::list), run = bit(Command::run),
                   sweep = bit(Command::sweep), report = bit(Command::report), shot = bit(Command::shot),
                   bench = bit(Command::bench), devices = bit(Command::devices),
                   worker = bit(Command::worker);
constexpr unsigned measuring = run | sweep | bench | report | shot;
constexpr unsigned one_configuration = run | sweep | shot;

enum class Takes { nothing, one, several };

struct OptionRow {
    const char* name;
    Takes takes;
    const char* value;
    const char* meaning;  // with the default in brackets
    unsigned commands;
};
constexpr OptionRow option_rows[] = {
    {"--all", Takes::nothing, "", "also families without kernels yet", list},
    {"--family", Takes::one, "FAMILY", "what it shows (the first of the list)", window | shot},
    {"--over", Takes::several, "NAME=V1,V2,...", "an axis of the grid; one or two of them", sweep},
    {"--set", Takes::several, "NAME=VALUE", "a parameter's value; repeatable", one_configuration},
    {"--preset", Takes::one, "NAME", "values to start from instead of the defaults", one_configuration},
    {"--variant", Takes::several, "V", "only this variant; repeatable (all that the backend has)",
     one_configuration},
    {"--input", Takes::one, "FILE.npz", "input arrays by name; the others are generated", one_configuration},
    {"--output", Takes::one, "FILE.npz", "writes inputs, every variant's outputs and the reference", run},
    {"--size", Takes::one, "WxH", "of the picture in pixels (1600x900)", shot},
    {"--panel", Takes::one, "NAME", "one panel alone", shot},
    {"--theme", Takes::one, "dark|light", "colours", window | shot},
    {"--scale", Takes::one, "S", "size of text and controls, 1 to 2", window | shot},
    {"--backend", Takes::one, "cpu|cuda|auto", "where the kernels run (cpu)", measuring},
    {"--device", Takes::one, "N", "which device of the backend (0)", measuring | window},
    {"--threads", Takes::one, "N", "threads of the CPU (one a core)", measuring | window},
    {"--seed", Takes::one, "N", "of generated inputs (1)", measuring},
    {"--repeat", Takes::one, "N", "timed repeats (9)", measuring},
    {"--cache", Takes::one, "cold|hot", "caches before every repeat (cold)", measuring},
    {"--profile", Takes::one, "LEVEL", "none, timeline, counters or sampling (timeline)", measuring},
    {"--time-limit", Takes::one, "SECONDS", "a run that takes longer is ended (none; window: 10)",
     measuring | window},
    {"--memory-limit", Takes::one, "BYTES",
     "a run that needs more is refused; KiB, MiB, GiB may follow (what is free)", measuring},
    {"--arch", Takes::one, "sm_XX", "theory of the CUDA form for that chip, there or not, beside the run",
     measuring},
    {"--kernels", Takes::one, "DIR",
     "reads the .cu files from DIR/kernels instead of those inside the program", measuring | window},
    {"--on", Takes::one, "COMMAND", "computes where this starts a worker, like \"ssh HOST sawtooth worker\"",
     run | sweep | window},
    {"--cache-dir", Takes::one, "DIR", "where compiled kernels and measured limits are kept",
     measuring | window | worker},
    {"--json", Takes::nothing, "", "one JSON document on standard output, nothing else there",
     list | run | sweep | report | shot | bench | devices},
    {"--json-file", Takes::one, "FILE", "writes the JSON document ('-': standard output)", sweep | bench},
    {"--csv", Takes::one, "FILE", "writes the table as CSV ('-': standard output)", sweep | bench},
    {"--markdown", Takes::one, "FILE", "writes the table as Markdown ('-': standard output)", sweep | bench},
};

// Where the library puts what it reads; it must outlive the parsing.
struct Slots {
    std::string target, family;
    std::vector<std::string> families;
    std::map<std::string, std::vector<std::string>> options;
    std::map<std::string, bool> flags;
};

void add_options(CLI::App& app, Command command, Slots& slots) {
    for (const OptionRow& row : option_rows) {
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
    if (command == Command::run || command == Command::sweep)
        app.add_option("FAMILY", slots.family, "as `sawtooth list` names it")->required()->type_name("");
    if (command == Command::report)
        app.add_option("DIR", slots.target, "the report's folder")->required()->type_name("");
    if (command == Command::shot)
        app.add_option("FILE.png", slots.target, "the picture")->required()->type_name("");
    if (command == Command::report)
        app.add_option("FAMILY", slots.families, "which families (all)")->type_name("");
    if (command == Command::bench)
        app.add_option("FAMILY", slots.families, "which families (all); 'window' measures the window")
            ->type_name("");
}

// Errors of the library in one line, with the subcommand that they belong to.
Error usage(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return Error::usage(text + "; --help tells what is accepted");
}

std::string command_names() {
    std::string names;
    for (const CommandRow& row : command_rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

Arguments gathered(Command command, const Slots& slots) {
    Arguments arguments;
    arguments.command = command;
    arguments.target = slots.target;
    arguments.families = slots.families;
    if (!slots.family.empty()) arguments.families = {slots.family};
    for (const auto& [name, values] : slots.options)
        if (!values.empty()) arguments.options[name] = values;
    for (const auto& [name, given] : slots.flags)
        if (given) arguments.options[name] = {};
    return arguments;
}

}  // namespace

Outcome<Reading> read_arguments(int argc, const char* const* argv) {
    const std::string first = argc > 1 ? argv[1] : "";
    const auto known = [&](const CommandRow& row) { return first == row.name; };
    if (!first.empty() && first.front() != '-' &&
        std::none_of(std::begin(command_rows), std::end(command_rows), known))
        return Error::usage(Refusal{first, "", "is no subcommand; accepted are " + command_names()});

    CLI::App app(
        "Sawtooth, a live laboratory for sequence kernels. Without a subcommand it opens the window.",
        "sawtooth");
    app.set_version_flag("--version", std::string("sawtooth ") + SAWTOOTH_VERSION, "prints the version");
    app.set_help_flag("-h,--help", "prints this help");
    app.require_subcommand(0, 1);
    std::map<Command, Slots> slots;
    add_options(app, Command::window, slots[Command::window]);
    std::map<Command, CLI::App*> subcommands;
    for (const CommandRow& row : command_rows) {
        CLI::App* subcommand = app.add_subcommand(row.name, row.meaning);
        subcommand->set_help_flag("-h,--help", "prints this help");
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
    } catch (const CLI::ParseError& error) {
        return usage(error.what());
    }
    Command command = Command::window;
    for (const auto& [candidate, subcommand] : subcommands)
        if (subcommand->parsed()) command = candidate;
    if (command != Command::window)
        if (const auto misplaced = gathered(Command::window, slots[Command::window]).options;
            !misplaced.empty())
            return usage(misplaced.begin()->first +
                         ": stands before the subcommand, where it is for the window");
    return Reading{gathered(command, slots[command]), ""};
}

}  // namespace sawtooth::cli

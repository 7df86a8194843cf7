#include "app/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>

#include "app/engine/configure.h"
#include "app/engine/identity.h"
#include "kernels/core/nearest.h"

namespace sawtooth::cli {
namespace {

struct CommandRow {
    Command command;
    const char* name;
    const char* meaning;
};
constexpr CommandRow command_rows[] = {
    {Command::list, "list", "Show families with their variants, parameters and arrays."},
    {Command::run, "run", "Run one configuration; print times, errors and occupancy of every variant."},
    {Command::sweep, "sweep", "Run every combination of the values of one or two parameters."},
    {Command::check, "check",
     "Try settings that make wrong kernels of families fail; show the smallest one that does."},
    {Command::report, "report",
     "Run families at their defaults, or one as set, and write DIR/index.html with summary, figures and "
     "tables."},
    {Command::shot, "shot", "Save a picture of the window. No display is needed."},
    {Command::bench, "bench",
     "Time the fixed cases of families against what limits them: bytes, arithmetic or steps."},
    {Command::devices, "devices", "Show processors and GPUs, and whether counters can be read."},
    {Command::worker, "worker", "Compute for another sawtooth over standard input and output (see --on)."},
};

constexpr unsigned bit(Command command) { return 1u << static_cast<unsigned>(command); }
constexpr unsigned window = bit(Command::window), list = bit(Command::list), run = bit(Command::run),
                   sweep = bit(Command::sweep), check = bit(Command::check), report = bit(Command::report),
                   shot = bit(Command::shot), bench = bit(Command::bench), devices = bit(Command::devices),
                   worker = bit(Command::worker);
constexpr unsigned measuring = run | sweep | bench | report | shot;
constexpr unsigned one_configuration = run | sweep | shot | report;

enum class Takes { nothing, one, several };

struct OptionRow {
    const char* name;
    Takes takes;
    const char* value;
    const char* meaning;  // the default in brackets
    unsigned commands;
};
constexpr OptionRow option_rows[] = {
    {"--all", Takes::nothing, "", "include families that have no kernels yet", list},
    {"--family", Takes::one, "FAMILY", "family to show (the first of the list)", window | shot},
    {"--over", Takes::several, "NAME=VALUES",
     "parameter to sweep, by name or title, and its values: 16,64 or 16..256 (powers of two or even steps), "
     "16..256x2, 64..512+64, or a mixture; NAME,NAME=VALUES moves several together; one or two axes",
     sweep},
    {"--best", Takes::nothing, "",
     "search for the fastest: few repeats for all cells, more for those that may be the fastest", sweep},
    {"--export", Takes::one, "json|triton", "print the fastest values instead of the table", sweep},
    {"--set", Takes::several, "NAME=VALUE",
     "set a parameter by its name or title; numbers may be written 2k or 4*1024; repeatable",
     one_configuration},
    {"--preset", Takes::one, "NAME", "start from these values instead of the defaults", one_configuration},
    {"--variant", Takes::several, "V", "run only this variant; repeatable (all that the backend has)",
     one_configuration | check},
    {"--input", Takes::one, "FILE.npz", "read input arrays by name; the others are generated",
     one_configuration},
    {"--output", Takes::one, "FILE.npz", "write inputs, outputs of every variant and the reference", run},
    {"--size", Takes::one, "WxH", "size of the picture in pixels (1600x900)", shot},
    {"--panel", Takes::one, "NAME", "draw only this panel", shot},
    {"--theme", Takes::one, "dark|light", "colour theme", window | shot},
    {"--scale", Takes::one, "S", "size of text and controls, 1 to 2", window | shot},
    {"--backend", Takes::one, "cpu|cuda|auto", "where the kernels run (cpu)", measuring | check},
    {"--device", Takes::one, "N", "index of the GPU (0)", measuring | check | window},
    {"--threads", Takes::one, "N", "CPU worker threads (one per core)", measuring | check | window},
    {"--seed", Takes::one, "N", "seed of generated inputs, or of the settings that check draws (1)",
     measuring | check},
    {"--values", Takes::one, "KIND",
     "numbers among generated inputs: usual, zeros, denormals, huge, infinity or nan (usual)",
     one_configuration},
    {"--optional", Takes::nothing, "", "generate optional inputs too, such as initial states",
     one_configuration},
    {"--repeat", Takes::one, "N", "timed repeats (9)", measuring},
    {"--trials", Takes::one, "N", "comparisons of bench verdicts, on a quiet and on a busy machine (1000)",
     bench},
    {"--cache", Takes::one, "cold|hot", "state of the caches before every repeat (cold)", measuring},
    {"--profile", Takes::one, "LEVEL", "none, timeline, counters or sampling (timeline)", measuring},
    {"--time-limit", Takes::one, "SECONDS", "stop a run that takes longer (none; window: 10)",
     measuring | window},
    {"--memory-limit", Takes::one, "BYTES", "refuse a run that needs more, like 512MiB (free memory)",
     measuring},
    {"--arch", Takes::one, "sm_XX",
     "also compile for this chip and show registers and occupancy; no GPU needed", measuring},
    {"--kernels", Takes::one, "DIR", "read .cu files from DIR/kernels instead of the built-in ones",
     measuring | check | window},
    {"--jitter", Takes::one, "N",
     "compile for a GPU so that threads wait at random times, of seed N, around barriers (0: not)", run},
    {"--on", Takes::one, "COMMAND", "run in the worker this starts, like \"ssh HOST sawtooth worker\"",
     run | sweep | check | window},
    {"--cache-dir", Takes::one, "DIR", "folder for compiled kernels and measured limits",
     measuring | check | window | worker | devices},
    {"--measure", Takes::nothing, "", "measure the limits of the CPU and of the first GPU, and keep the best",
     devices},
    {"--seconds", Takes::one, "S", "check each family for so long (every setting of its battery once)",
     check},
    {"--sanitize", Takes::nothing, "",
     "run a few settings of each variant under the tools of compute-sanitizer; needs a GPU", check},
    {"--first", Takes::nothing, "", "end the check of a family at its first wrong variant", check},
    {"--pictures", Takes::one, "DIR", "write what a wrong variant computed and should have as SVG files",
     check},
    {"--allow-wrong", Takes::nothing, "", "exit with 0 even if a variant computes wrong outputs",
     run | sweep | check | bench},
    {"--json", Takes::nothing, "", "print one JSON document and nothing else",
     list | run | sweep | check | report | shot | bench | devices},
    {"--json-file", Takes::one, "FILE", "write the JSON document ('-': standard output)", sweep | bench},
    {"--csv", Takes::one, "FILE", "write the table as CSV ('-': standard output)", sweep | bench},
    {"--markdown", Takes::one, "FILE", "write the table as Markdown ('-': standard output)", sweep | bench},
};

// CLI11 writes parsed values here; must outlive the parsing.
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
        app.add_option("FAMILY", slots.family, "family, as in `sawtooth list`")->required()->type_name("");
    if (command == Command::report)
        app.add_option("DIR", slots.target, "folder of the report; created if it does not exist")
            ->required()
            ->type_name("");
    if (command == Command::shot)
        app.add_option("FILE.png", slots.target, "file to write")->required()->type_name("");
    if (command == Command::report)
        app.add_option("FAMILY", slots.families, "families to run (all); one with --set")->type_name("");
    if (command == Command::list)
        app.add_option("FAMILY", slots.families, "families to show (all)")->type_name("");
    if (command == Command::check)
        app.add_option("FAMILY", slots.families, "families to check (all)")->type_name("");
    if (command == Command::bench)
        app.add_option("FAMILY", slots.families,
                       "families to time (all); 'window' before them times the window instead, 'verdicts' "
                       "alone counts "
                       "wrong verdicts on speed")
            ->type_name("");
}

const char* name_of(Command command) {
    for (const CommandRow& row : command_rows)
        if (row.command == command) return row.name;
    return "sawtooth";
}

std::string help_of(Command command) {
    return command == Command::window ? "sawtooth --help"
                                      : "sawtooth " + std::string(name_of(command)) + " --help";
}

const OptionRow* find_option(Command command, std::string_view name) {
    for (const OptionRow& row : option_rows)
        if (row.name == name && (row.commands & bit(command))) return &row;
    return nullptr;
}

// "--csv is not an option of run; it belongs to sweep, bench"
Error unknown_option(Command command, const std::string& name) {
    Names own, others;
    for (const OptionRow& row : option_rows)
        if (row.commands & bit(command)) own.emplace_back(row.name);
    for (const CommandRow& row : command_rows)
        if (find_option(row.command, name)) others.emplace_back(row.name);
    const std::string of = command == Command::window ? "the window" : name_of(command);
    if (!others.empty())
        return Error::usage(name + " is not an option of " + of + "; it belongs to " + listed(others));
    return Error::usage(name + " is not an option of " + of + "." + suggestion(name, own) + " See " +
                        help_of(command));
}

int most_positionals(Command command) {
    if (command == Command::list || command == Command::bench || command == Command::check ||
        command == Command::report)
        return std::numeric_limits<int>::max();
    return command == Command::run || command == Command::sweep || command == Command::shot ? 1 : 0;
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

// No option accepts an empty text.
std::optional<Error> check_not_empty(const Arguments& arguments) {
    for (const auto& [name, values] : arguments.options)
        if (std::find(values.begin(), values.end(), "") != values.end())
            return Error::usage(name + " needs a value, not an empty text");
    return {};
}

Arguments gathered(Command command, const Slots& slots) {
    Arguments arguments;
    arguments.command = command;
    arguments.target = slots.target;
    arguments.families = slots.families;
    if (command == Command::run || command == Command::sweep) arguments.families = {slots.family};
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
    for (const CommandRow& row : command_rows) {
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
    for (const CommandRow& row : command_rows) {
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
    if (const auto error = check_not_empty(arguments)) return *error;
    return Reading{std::move(arguments), ""};
}

}  // namespace sawtooth::cli

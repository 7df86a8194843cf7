#include "app/cli/man_page.h"

#include <fmt/format.h>

#include "app/cli/argument_tables.h"
#include "app/engine/identity.h"
#include "app/engine/run/configure.h"
#include "kernels/core/nearest.h"

namespace sawtooth::cli {
namespace {

// The text escaped for roff: a plain - would become a hyphen, which cannot be pasted into a shell.
std::string roff(std::string_view text) {
    std::string escaped;
    for (const char c : text)
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
    const bool is_request = escaped.starts_with('.') || escaped.starts_with('\'');
    return is_request ? "\\&" + escaped : escaped;
}

// An entry of the man page: a term, its value in italics, and its meaning.
std::string entry(std::string_view term, std::string_view value, std::string_view meaning) {
    const std::string italics = value.empty() ? "" : " \\fI" + roff(value) + "\\fR";
    return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(term), italics, roff(meaning));
}

std::string synopsis_of(Command command) {
    std::string line = fmt::format("\\fBsawtooth {}\\fR", name_of(command));
    for (const PositionalRow& row : positionals())
        if (row.command == command)
            line += row.takes == Takes::several ? fmt::format(" [\\fI{}\\fR ...]", roff(row.name))
                                                : fmt::format(" \\fI{}\\fR", roff(row.name));
    return ".br\n" + line + " [\\fIoptions\\fR]\n";
}

std::string subcommands_section() {
    std::string text;
    for (const CommandRow& row : commands()) {
        std::string meaning = row.meaning;
        for (const PositionalRow& word : positionals())
            if (word.command == row.command) meaning += fmt::format(" {}: {}.", word.name, word.meaning);
        text += entry(row.name, "", meaning);
    }
    return text;
}

std::string all_options() {
    std::string text = entry("-h, --help", "", "print help; after a subcommand, that of the subcommand") +
                       entry("--version", "", "print the version");
    for (const OptionRow& row : options()) {
        Names where;
        if (row.commands & bit(Command::window)) where.emplace_back("the window");
        for (const CommandRow& command : commands())
            if (row.commands & bit(command.command)) where.emplace_back(command.name);
        text += entry(row.name, row.value, fmt::format("{}. For {}.", row.meaning, listed(where)));
    }
    return text;
}

std::string all_families() {
    std::string text;
    for (const Family* family : offered_families()) text += entry(family->name, "", family->summary);
    return text;
}

constexpr std::pair<const char*, const char*> exit_codes[] = {
    {"0", "done"},
    {"1", "failed: a run, a device or a file that cannot be written; the reason is on standard error"},
    {"2", "the command line or an input file is wrong"},
    {"3", "compare: B is slower than A"},
    {"4", "a variant computes wrong outputs (--allow-wrong accepts it, but not for compare)"},
    {"5", "compare: it cannot be told whether B is slower"},
    {"130", "interrupted"},
};

constexpr std::pair<const char*, const char*> variables[] = {
    {"XDG_CACHE_HOME", "folder of compiled kernels and measured limits, in sawtooth/ (~/.cache)"},
    {"XDG_CONFIG_HOME", "folder of the window's settings, in sawtooth/ (~/.config)"},
    {"XDG_STATE_HOME",
     "folder of the log, crash reports and autosaved sessions, in sawtooth/ (~/.local/state)"},
    {"CUDA_HOME, CUDA_PATH", "folder of a CUDA toolkit, searched first for NVRTC and CUPTI"},
};

template <class Rows>
std::string entries(const Rows& rows) {
    std::string text;
    for (const auto& [term, meaning] : rows) text += entry(term, "", meaning);
    return text;
}

}  // namespace

std::string man_page() {
    std::string text =
        fmt::format(".TH SAWTOOTH 1 \"\" \"sawtooth {}\" \"User Commands\"\n", roff(build_identity()));
    text += ".SH NAME\nsawtooth \\- live laboratory for sequence kernels\n";
    text += ".SH SYNOPSIS\n\\fBsawtooth\\fR [\\fIoptions\\fR]\n";
    for (const CommandRow& row : commands()) text += synopsis_of(row.command);
    text +=
        ".SH DESCRIPTION\nRuns every variant of a kernel, on the CPU or on an NVIDIA GPU, and shows outputs, "
        "errors "
        "against a double\\-precision reference, launches and times side by side. Without a subcommand it "
        "opens the "
        "window; every subcommand computes with the same engine.\n";
    text += ".SH SUBCOMMANDS\n" + subcommands_section();
    text += ".SH OPTIONS\nDefaults are in brackets.\n" + all_options();
    text +=
        ".SH FAMILIES\n\\fBsawtooth list\\fR shows their variants, parameters and arrays.\n" + all_families();
    text += ".SH EXIT STATUS\n" + entries(exit_codes);
    text += ".SH ENVIRONMENT\n" + entries(variables);
    return text;
}

}  // namespace sawtooth::cli

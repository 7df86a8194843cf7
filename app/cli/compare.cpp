#include <fmt/format.h>

#include <algorithm>

#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/table_files.h"
#include "app/cli/terminal.h"
#include "app/engine/compare/live_comparison.h"
#include "app/engine/compare/session_comparison.h"

namespace sawtooth::cli {
namespace {

constexpr size_t comparison_width = 120;

std::string text_of(const ComparisonReport& report) {
    std::string text = fmt::format("A: {}\nB: {}\n{}\n\n", report.name_a, report.name_b, report.how);
    if (!report.variants.empty()) text += plain_within(comparison_table(report), comparison_width);
    for (const std::string& line : report.not_compared) text += wrapped(line, comparison_width, 2) + "\n";
    for (const std::string& note : report.notes) text += wrapped("note: " + note, comparison_width, 2) + "\n";
    if (conclusion_of(report) == Conclusion::same_or_faster) text += "\n" + sentence_of(report) + "\n";
    return text;
}

// Prints and writes the report; the reason of an exit code that is not 0 is a line on standard error.
int finish(const Arguments& arguments, const TableFiles& files, const ComparisonReport& report) {
    const int written = write_documents(files, arguments.has("--json"),
                                        {.text = text_of(report),
                                         .json = to_json(report),
                                         .markdown = comparison_markdown(report),
                                         .junit = comparison_junit(report)});
    if (written != 0) return written;
    const Conclusion conclusion = conclusion_of(report);
    if (conclusion != Conclusion::same_or_faster) fail(Error::failure(sentence_of(report)));
    return static_cast<int>(conclusion);
}

// "block_size=512, threads=2"
std::string name_of_side(const Arguments& arguments, const char* side) {
    std::string name;
    for (const std::string& text : arguments.values(side)) name += (name.empty() ? "" : ", ") + text;
    return name.empty() ? "the settings of both" : name;
}

int compare_settings(const Arguments& arguments) {
    auto sides = settle_sides(arguments);
    if (!sides) return fail(sides.error());
    const auto files = settle_files(arguments);
    if (!files) return fail(files.error());
    auto& [a, b] = *sides;
    Interrupts interrupts;
    ProgressBar bar;
    Runner runner_a(a.cache_directory), runner_b(b.cache_directory);
    runner_a.on_deaf(end_with);
    runner_b.on_deaf(end_with);
    const auto report =
        compare_live({runner_a, a.request, name_of_side(arguments, "--a")},
                     {runner_b, b.request, name_of_side(arguments, "--b")}, interrupts.token(),
                     [&](const Progress& progress, auto) { bar.show(progress.fraction, progress.words); });
    bar.clear();
    if (!report) return fail(report.error());
    return finish(arguments, *files, *report);
}

int compare_files(const Arguments& arguments) {
    constexpr std::string_view accepted[] = {"--json", "--markdown", "--junit"};
    for (const auto& [option, values] : arguments.options)
        if (std::find(std::begin(accepted), std::end(accepted), option) == std::end(accepted))
            return fail(Error::usage(option + ": session files are compared as they are; " + option +
                                     " needs a family: sawtooth compare FAMILY"));
    const auto files = settle_files(arguments);
    if (!files) return fail(files.error());
    Interrupts interrupts;
    const std::string &a = arguments.families[0], &b = arguments.families[1];
    std::vector<std::string> notes;
    std::vector<Session> sessions;
    for (const std::string& path : {a, b}) {
        auto read = read_session(path, interrupts.token());
        if (!read) return fail(read.error());
        for (const std::string& note : read->notes) notes.push_back(path + ": " + note);
        sessions.push_back(std::move(read->session));
    }
    auto report = compare_sessions(sessions[0], sessions[1], a, b, interrupts.token());
    if (!report) return fail(report.error());
    report->notes.insert(report->notes.begin(), notes.begin(), notes.end());
    return finish(arguments, *files, *report);
}

}  // namespace

int compare(const Arguments& arguments) {
    const std::vector<std::string>& words = arguments.families;
    if (words.size() == 2) {
        for (const std::string& word : words)
            if (find_offered_family(word))
                return fail(
                    Error::usage("compare takes one family, with --b NAME=VALUE, or two session files; " +
                                 word + " is a family"));
        return compare_files(arguments);
    }
    if (words.size() == 1 && !words.front().ends_with(".sawtooth")) return compare_settings(arguments);
    return fail(
        Error::usage("compare needs FAMILY with --b NAME=VALUE, or two session files: sawtooth compare "
                     "A.sawtooth B.sawtooth"));
}

}  // namespace sawtooth::cli

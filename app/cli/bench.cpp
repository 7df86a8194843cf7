#include <algorithm>

#include "app/cli/bench_tables.h"
#include "app/cli/command_sources.h"
#include "app/cli/interrupts.h"
#include "app/cli/session_file.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/table_files.h"
#include "app/cli/terminal.h"
#include "app/engine/run/configure.h"
#include "app/engine/wire/json.h"
#include "kernels/core/nearest.h"

namespace sawtooth::cli {

int bench(const Arguments& arguments) {
    std::vector<std::string> names = arguments.families;
    Names known;
    for (const Family* family : offered_families()) known.push_back(family->name);
    if (names.empty()) names = known;
    known.insert(known.end(), {"window", "verdicts"});
    for (const std::string& name : names) {
        if (name == "window") return fail(Error::usage("bench window: window comes before the families"));
        if (name == "verdicts") return fail(Error::usage("bench verdicts takes no family"));
        if (std::find(known.begin(), known.end(), name) == known.end())
            return fail(Error::usage(no_such_name(name, "a family", "Families", known)));
    }
    if (arguments.has("--trials")) return fail(Error::usage("--trials is an option of bench verdicts"));
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    const auto files = settle_files(arguments);
    if (!files) return fail(files.error());
    if (const auto problem = check_session(arguments)) return fail(*problem);
    for (const std::string& note : settings->notes) print_note(note);

    Interrupts interrupts;
    ProgressBar bar;
    CommandSources sources(settings->cache_directory);
    const auto report =
        sources.of(settings->request)
            .bench(names, settings->request, interrupts.token(),
                   [&](const Progress& progress, auto) { bar.show(progress.fraction, progress.words); });
    bar.clear();
    if (!report) return fail(report.error());
    for (const std::string& note : report->notes) print_note(note);
    const int written = write_documents(*files, arguments.has("--json"),
                                        {.text = bench_text(*report),
                                         .json = to_json(*report),
                                         .csv = bench_table(*report).csv(),
                                         .markdown = bench_markdown(*report)});
    if (const auto problem =
            add_to_session(arguments, [&](Session& session) { session.benches.push_back(*report); }))
        return fail(*problem);
    if (report->ended) return fail(*report->ended);
    const auto bad = std::find_if(report->rows.begin(), report->rows.end(),
                                  [](const BenchRow& row) { return row.verdict == Verdict::wrong; });
    if (bad == report->rows.end()) return written;
    return exit_code(written, bad->family + " " + bad->name + ", " + bad->variant + ": " + bad->note,
                     arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli

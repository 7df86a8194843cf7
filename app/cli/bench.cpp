#include <algorithm>
#include <utility>

#include "app/cli/bench_tables.h"
#include "app/cli/command_sources.h"
#include "app/cli/families_in_team.h"
#include "app/cli/interrupts.h"
#include "app/cli/session_file.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/table_files.h"
#include "app/cli/terminal.h"
#include "app/engine/run/configure.h"
#include "app/engine/tables/joined_bench.h"
#include "app/engine/wire/json.h"
#include "kernels/core/nearest.h"

namespace sawtooth::cli {
namespace {

// The families with cases that are named.
std::vector<std::string> families_to_time(const std::vector<std::string>& names) {
    std::vector<std::string> families;
    for (const Family* family : offered_families())
        if (family->bench_cases && std::find(names.begin(), names.end(), family->name) != names.end())
            families.push_back(family->name);
    return families;
}

// Errors: those of run_team, if no family was done.
Outcome<BenchReport> bench_in_team(const Settings& settings, const std::vector<std::string>& families,
                                   const std::stop_token& stop, ProgressBar& bar) {
    std::vector<BenchReport> reports(families.size());
    const auto bench = [&](WorkerSource& source, const Request& base, size_t index,
                           std::stop_token stop_team) -> std::optional<Error> {
        auto report = source.bench({families[index]}, base, std::move(stop_team), {});
        if (!report) return report.error();
        reports[index] = std::move(*report);
        return {};
    };
    const auto [done, error] = families_in_team(settings, families, stop, bar, bench);
    if (error && done.empty()) return *error;
    std::vector<BenchReport> finished;
    for (const size_t index : done) finished.push_back(std::move(reports[index]));
    BenchReport all = joined(finished);
    if (error) all.ended = error;
    return all;
}

Outcome<BenchReport> bench_anywhere(const Settings& settings, const std::vector<std::string>& names,
                                    const std::stop_token& stop, ProgressBar& bar) {
    if (settings.workers.size() > 1) return bench_in_team(settings, families_to_time(names), stop, bar);
    CommandSources sources(settings.cache_directory);
    return sources.of(settings.request)
        .bench(names, settings.request, stop,
               [&](const Progress& progress, auto) { bar.show(progress.fraction, progress.words); });
}

}  // namespace

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
    const auto report = bench_anywhere(*settings, names, interrupts.token(), bar);
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
    if (bad == report->rows.end()) {
        const bool none_ran =
            std::ranges::none_of(report->rows, [](const BenchRow& row) { return row.time.has_value(); });
        return none_ran && written == 0 && !report->rows.empty()
                   ? fail(Error::failure("no case ran: " + report->rows.front().note))
                   : written;
    }
    return exit_code(written, bad->family + " " + bad->name + ", " + bad->variant + ": " + bad->note,
                     arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli

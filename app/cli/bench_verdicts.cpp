#include "app/engine/tables/bench_verdicts.h"

#include <fmt/format.h>

#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/wire/json.h"

namespace sawtooth::cli {
namespace {

std::string words_of(const VerdictBench& bench, const Request& base) {
    const auto counted = [](int count, int total) {
        return total > 0 ? fmt::format("{} ({:.1f} %)", count, 100.0 * count / total) : "none compared";
    };
    Table table{{{"machine", "", false},
                 {"trials", ""},
                 {"winners, in turns", ""},
                 {"winners, apart", ""},
                 {"winners, 9 rounds", ""},
                 {"same", ""},
                 {"cannot tell", ""},
                 {"disturbed repeats", ""}},
                {}};
    for (const VerdictCounts& counts : bench.counts)
        table.rows.push_back(
            {counts.busy_processes == 0 ? "no added load"
                                        : fmt::format("{} busy processes", counts.busy_processes),
             std::to_string(counts.trials), counted(counts.winners_in_turns, counts.trials),
             counted(counts.winners_apart, counts.trials),
             counted(counts.winners_of_rounds, counts.of_rounds), std::to_string(counts.same),
             std::to_string(counts.cannot_tell), counted(counts.disturbed, counts.repeats)});
    return fmt::format(
               "The first variant of every family against itself on {}: {} repeats, caches {}. Every winner "
               "is "
               "a wrong verdict.\n\n",
               bench.device, base.repeats, base.cache == Cache::cold ? "cold" : "hot") +
           table.plain();
}

}  // namespace

int bench_verdicts(const Arguments& arguments) {
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    const auto trials = settle_trials(arguments);
    if (!trials) return fail(trials.error());
    Interrupts interrupts;
    ProgressBar bar;
    Runner runner(settings->cache_directory);
    runner.on_deaf(end_with);
    const auto bench =
        bench_verdicts(runner, settings->request, *trials, interrupts.token(),
                       [&](const Progress& progress, auto) { bar.show(progress.fraction, progress.words); });
    bar.clear();
    if (!bench) return fail(bench.error());
    return print(arguments.has("--json") ? to_json(*bench) : words_of(*bench, settings->request));
}

}  // namespace sawtooth::cli

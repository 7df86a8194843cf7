#include <fmt/format.h>

#include "app/cli/report_page.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/files/files.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/session/session.h"
#include "app/engine/wire/json.h"

namespace sawtooth::cli {
namespace {

// Refuses options that only a run has.
std::optional<Error> check_options(const Arguments& arguments) {
    for (const auto& [name, values] : arguments.options)
        if (name != "--from" && name != "--json")
            return Error::usage(name + " has no effect with --from, which runs nothing");
    return {};
}

// The newest result of the family that was shown, or if there is none the newest at all; absent if it has
// none.
Outcome<std::optional<FamilyReport>> report_of(const Family& family, const Session& session) {
    std::optional<FamilyReport> report;
    for (size_t i = session.results.size(); i-- > 0;) {
        const ResultSummary& summary = session.results[i].summary();
        if (summary.request.family != family.name) continue;
        auto opened = session.results[i].open();
        if (!opened) return Error::usage(fmt::format("result {}: {}", i + 1, opened.error().text));
        if (report && !opened->figures) continue;
        report = FamilyReport{&family, opened->result, {}, summary.date + " UTC on " + summary.machine};
        if (!opened->figures) continue;
        report->figures = *opened->figures;
        return report;
    }
    if (report) report->figures = figures_of(*report->result, {});
    return report;
}

std::optional<Error> add_sweeps(FamilyReport& report, const Session& session) {
    for (const SessionSweep& sweep : session.sweeps) {
        if (sweep.sweep.base.family != report.family->name || sweep.cells.empty()) continue;
        const auto opened = open_sweep(session, sweep);
        if (!opened) return opened.error();
        for (Figure& figure : figures_of(*opened)) report.figures.push_back(std::move(figure));
    }
    return {};
}

Outcome<std::vector<FamilyReport>> reports_of(const std::vector<const Family*>& families,
                                              const Session& session, bool must_have_all) {
    std::vector<FamilyReport> reports;
    for (const Family* family : families) {
        auto report = report_of(*family, session);
        if (!report) return report.error();
        if (!*report && must_have_all) return Error::usage("has no results of " + family->name);
        if (!*report) continue;
        if (auto problem = add_sweeps(**report, session)) return *problem;
        reports.push_back(std::move(**report));
    }
    if (reports.empty()) return Error::usage("has no results to report");
    return reports;
}

}  // namespace

int report_session(const Arguments& arguments) {
    if (const auto problem = check_options(arguments)) return fail(*problem);
    const auto families = families_of(arguments);
    if (!families) return fail(families.error());
    const std::string path = arguments.value("--from");
    const auto read = read_session(path);
    if (!read) return fail(read.error());
    for (const std::string& note : read->notes) print_note(path + ": " + note);
    const auto reports = reports_of(*families, read->session, !arguments.families.empty());
    if (!reports) return fail(Error::usage(path + ": " + reports.error().text));
    const auto made = make_folder(arguments.target);
    if (!made) return fail(made.error());
    const std::string page = arguments.target + "/index.html";
    if (const auto problem = write_file(page, report_page(*reports, today()))) return fail(*problem);
    return print(arguments.has("--json") ? written_json({page}) : page + "\n");
}

}  // namespace sawtooth::cli

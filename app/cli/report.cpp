#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "app/cli/command_sources.h"
#include "app/cli/families_in_team.h"
#include "app/cli/interrupts.h"
#include "app/cli/report_page.h"
#include "app/cli/session_file.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/sweep_documents.h"
#include "app/cli/terminal.h"
#include "app/engine/files/files.h"
#include "app/engine/machine/devices.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/sources/sweep_loop.h"
#include "app/engine/wire/json.h"
#include "kernels/core/nearest.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::cli {
namespace {

// Computes the progress of the whole report from the progress of its steps.
class Steps {
  public:
    // Without a bar nothing is shown.
    Steps(size_t families, ProgressBar* bar) : bar_(bar), families_(families) {}

    void start_family(const std::string& name, size_t index) {
        name_ = name;
        start_ = static_cast<double>(index) / static_cast<double>(families_);
        sweeps_ = 0;
    }
    void show_run(double fraction) { show(0.2 * fraction, "run"); }
    void count_sweeps(size_t sweeps) { sweeps_ = static_cast<double>(sweeps); }
    void show_sweep(size_t sweep, double fraction) {
        show(0.2 + 0.8 * (static_cast<double>(sweep) + fraction) / sweeps_, "sweeps for figures");
    }

  private:
    void show(double fraction, const char* words) {
        if (bar_) bar_->show(start_ + fraction / static_cast<double>(families_), name_ + ": " + words);
    }
    ProgressBar* bar_;
    size_t families_;
    std::string name_;
    double start_ = 0, sweeps_ = 0;
};

void append(std::vector<Figure>& to, std::vector<Figure> figures) {
    for (Figure& figure : figures) to.push_back(std::move(figure));
}

Outcome<FamilyReport> report_family(const Family& family, Request request, ResultId id, Source& source,
                                    std::stop_token stop, Steps& steps) {
    request.family = family.name;
    FamilyReport report{&family, nullptr, {}};
    View view;
    view.columns = 480;  // a figure of the page is 560 pixels wide
    const auto seen = source.run(id, request, view, stop,
                                 [&](const Progress& progress, auto) { steps.show_run(progress.fraction); });
    if (!seen) return seen.error();
    report.result = seen->result;
    report.figures = *seen->figures;
    report.figures_of_run = seen->figures;
    const std::vector<Sweep> sweeps =
        figure_sweeps(request, report.result->parameters, report.result->backend);
    steps.count_sweeps(sweeps.size());
    for (size_t i = 0; i < sweeps.size(); ++i) {
        const auto swept = run_sweep(source, sweeps[i], stop, [&](const SweepResult& done) {
            steps.show_sweep(i,
                             static_cast<double>(done.cells.size()) / static_cast<double>(sweeps[i].cells()));
        });
        if (!swept) return swept.error();
        append(report.figures, figures_of(*swept));
        report.sweeps.push_back(*swept);
    }
    return report;
}

using Families = std::vector<const Family*>;
using Reports = std::vector<FamilyReport>;
struct ReportsDone {
    Reports reports;
    std::optional<Error> error;  // the other families are not done
};

ReportsDone report_here(const Settings& settings, const Families& families, const std::stop_token& stop,
                        ProgressBar& bar) {
    Steps steps(families.size(), &bar);
    CommandSources sources(settings.cache_directory);
    ReportsDone all;
    for (size_t i = 0; i < families.size(); ++i) {
        steps.start_family(families[i]->name, i);
        auto done =
            report_family(*families[i], settings.request, i + 1, sources.of(settings.request), stop, steps);
        if (!done) {
            all.error = done.error();
            break;
        }
        all.reports.push_back(std::move(*done));
    }
    return all;
}

ReportsDone report_in_team(const Settings& settings, const Families& families, const std::stop_token& stop,
                           ProgressBar& bar) {
    Reports reports(families.size());
    const auto report = [&](WorkerSource& source, const Request& request, size_t index,
                            std::stop_token stop_team) -> std::optional<Error> {
        Steps unseen(1, nullptr);
        auto done = report_family(*families[index], request, index + 1, source, std::move(stop_team), unseen);
        if (!done) return done.error();
        reports[index] = std::move(*done);
        return {};
    };
    std::vector<std::string> names;
    for (const Family* family : families) names.push_back(family->name);
    const FamiliesDone done = families_in_team(settings, names, stop, bar, report);
    ReportsDone all{{}, done.error};
    for (const size_t index : done.indices) all.reports.push_back(std::move(reports[index]));
    return all;
}

void add_reports(Session& to, const Reports& reports) {
    for (const FamilyReport& report : reports) {
        to.history.push_back(to.results.size());
        to.results.emplace_back(*report.result, report.figures_of_run);
        for (const SweepResult& sweep : report.sweeps) add_sweep(to, sweep);
    }
}

// The first wrong result of the families or of their sweeps.
std::string first_wrong_of(const Reports& reports) {
    for (const FamilyReport& report : reports) {
        std::string words = first_wrong(*report.result);
        for (const SweepResult& sweep : report.sweeps)
            if (words.empty()) words = first_wrong(sweep);
        if (!words.empty()) return report.family->name + ", " + words;
    }
    return "";
}

// Refuses a preset that a family lacks before anything runs.
std::optional<Error> check_preset(const std::vector<const Family*>& families, const std::string& name) {
    for (const Family* family : families) {
        const Names names = names_of_rows(family->presets);
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
            return Error::usage("--preset = " + name + " for " + family->name + ": " +
                                not_one_of(name, names));
    }
    return {};
}

}  // namespace

Outcome<std::vector<const Family*>> families_of(const Arguments& arguments) {
    if (arguments.families.empty()) return offered_families();
    std::vector<const Family*> chosen;
    for (const std::string& name : arguments.families) {
        const auto family = find_offered_family(name);
        if (!family) return family.error();
        if (std::find(chosen.begin(), chosen.end(), *family) == chosen.end()) chosen.push_back(*family);
    }
    return chosen;
}

int report(const Arguments& arguments) {
    const auto families = families_of(arguments);
    if (!families) return fail(families.error());
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    if (const auto problem = check_preset(*families, settings->request.preset)) return fail(*problem);
    if (const auto problem = check_session(arguments)) return fail(*problem);
    const std::string folder = arguments.target;
    const std::string page = folder + "/index.html";
    const auto made = make_folder(folder);
    if (!made) return fail(made.error());
    if (const auto problem = check_writable(page)) return fail(*problem);

    Interrupts interrupts;
    ProgressBar bar;
    auto [reports, error] = (settings->workers.size() > 1 ? report_in_team : report_here)(
        *settings, *families, interrupts.token(), bar);
    bar.clear();
    if (error && reports.empty()) {
        if (*made) ::rmdir(folder.c_str());
        return fail(*error);
    }
    // The families that were measured are kept wherever that is possible.
    if (error) error->text += fmt::format("; {} of {} families done", reports.size(), families->size());
    const auto attempt = [&error = error](const std::optional<Error>& problem) {
        if (error && problem)
            error->text += "; " + problem->text;
        else if (problem)
            error = problem;
    };
    const auto unwritten = write_file(page, report_page(reports, today()));
    attempt(unwritten);
    attempt(add_to_session(arguments, [&reports = reports](Session& to) { add_reports(to, reports); }));
    const int printed = unwritten ? 0 : print(arguments.has("--json") ? written_json({page}) : page + "\n");
    if (error) return fail(*error);
    return exit_code(printed, first_wrong_of(reports), arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli

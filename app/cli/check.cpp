#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/check/parallel.h"
#include "app/engine/check/sanitize.h"
#include "app/engine/files/files.h"
#include "app/engine/run/configure.h"
#include "app/engine/wire/json.h"
#include "kernels/core/nearest.h"
#include "viz/figure_svg.h"

namespace sawtooth::cli {
namespace {

// The families to check: the named ones, or all; only those that have the requested variants.
Outcome<std::vector<const Family*>> chosen_families(const Arguments& arguments, const Request& request) {
    std::vector<const Family*> chosen;
    for (const std::string& name : arguments.families) {
        const auto family = find_offered_family(name);
        if (!family) return family.error();
        if (std::find(chosen.begin(), chosen.end(), *family) == chosen.end()) chosen.push_back(*family);
    }
    if (arguments.families.empty()) chosen = offered_families();
    const auto has_all = [&](const Family* family) {
        return std::all_of(request.variants.begin(), request.variants.end(),
                           [&](const std::string& name) { return family->variant(name); });
    };
    Names variants;
    for (const Family* family : chosen)
        for (const Variant& variant : family->variants)
            if (std::find(variants.begin(), variants.end(), variant.name) == variants.end())
                variants.push_back(variant.name);
    for (const std::string& name : request.variants)
        if (std::find(variants.begin(), variants.end(), name) == variants.end())
            return Error::usage(Refusal{"--variant", name, not_one_of(name, variants)});
    std::erase_if(chosen, [&](const Family* family) { return !has_all(family); });
    if (chosen.empty()) return Error::usage("no family has all of these variants");
    return chosen;
}

std::string words_of(const CheckReport& report) {
    std::string text = summary_of(report) + "\n";
    for (const Finding& finding : report.findings) {
        text += "\n" + wrapped(finding.variant + ": " + sentence_of(finding), text_width, 2) + "\n";
        if (const std::string command = command_of(finding); !command.empty()) text += "  " + command + "\n";
        text += fmt::format("  found after {:.1f} s\n", finding.seconds);
    }
    return text;
}

double part_done(const CheckReport& report, std::optional<double> seconds) {
    if (report.complete) return 1;
    if (seconds) return std::min(1.0, report.seconds / *seconds);
    return report.size > 0 ? static_cast<double>(report.tried) / static_cast<double>(report.size) : 0;
}

// Writes FAMILY-VARIANT-got.svg and so on.
std::optional<Error> write_pictures(const std::string& folder, const std::vector<CheckReport>& reports) {
    for (const CheckReport& report : reports)
        for (const Finding& finding : report.findings)
            for (const Figure& figure : finding.figures) {
                const std::string what = figure.id.substr(figure.id.rfind('_') + 1);
                const std::string path =
                    fmt::format("{}/{}-{}-{}.svg", folder, report.family, finding.variant, what);
                if (auto error = write_file(path, to_svg(figure, light_theme(), 900, 600))) return error;
            }
    return {};
}

// Refuses options that do not go together, and pictures that cannot be written.
std::optional<Error> options_problem(const Arguments& arguments, const std::string& first_family) {
    for (const char* const option : {"--on", "--on-file"})
        if (arguments.has("--sanitize") && arguments.has(option))
            return Error::usage(fmt::format("--sanitize runs on this machine; leave out {}", option));
    if (!arguments.has("--pictures")) return {};
    const std::string folder = arguments.value("--pictures");
    if (const auto made = make_folder(folder); !made) return made.error();
    return check_writable(folder + "/" + first_family + ".svg");
}

std::vector<CheckRequest> requests_for(const std::vector<const Family*>& families, const Request& base,
                                       std::optional<double> seconds, bool only_first) {
    std::vector<CheckRequest> requests;
    for (const Family* family : families) {
        CheckRequest request;
        request.base = base;
        request.base.family = family->name;
        request.seconds = seconds;
        request.only_first = only_first;
        requests.push_back(std::move(request));
    }
    return requests;
}

// Shows the reports while they come, and keeps the newest of each family: what was found before an error
// stays.
class ShownReports {
  public:
    ShownReports(const std::vector<const Family*>& families, std::optional<double> seconds, bool json)
        : families_(families), seconds_(seconds), json_(json) {}

    void show(const CheckReport& report) {
        newest_[report.family] = report;
        double sum = 0;
        for (const auto& [family, newest] : newest_) sum += part_done(newest, seconds_);
        const std::string trying = report.trying ? ", " + setting_words(*report.trying) : "";
        bar_.show(sum / static_cast<double>(families_.size()), report.family + trying);
        if (report.complete && !json_) print_words(report);
    }
    void note(const std::string& line) { note_beside(bar_, line); }

    // Those with a result, in the order of the families.
    std::vector<CheckReport> all() const {
        std::vector<CheckReport> reports;
        for (const Family* family : families_)
            if (const auto found = newest_.find(family->name); found != newest_.end())
                if (found->second.complete || found->second.tried > 0) reports.push_back(found->second);
        return reports;
    }
    // Prints what was not printed yet. Returns the exit code of everything printed.
    int print_rest() {
        bar_.clear();
        if (json_) return print(to_json(all()));
        for (const CheckReport& report : all())
            if (!report.complete) print_words(report);
        return printed_;
    }

  private:
    void print_words(const CheckReport& report) {
        bar_.clear();
        if (printed_ == 0) printed_ = print(words_of(report));
    }

    const std::vector<const Family*>& families_;
    const std::optional<double> seconds_;
    const bool json_;
    ProgressBar bar_;
    std::map<std::string, CheckReport> newest_;
    int printed_ = 0;
};

std::string first_finding(const std::vector<CheckReport>& reports) {
    for (const CheckReport& report : reports)
        if (!report.findings.empty())
            return report.family + " " + report.findings.front().variant + ": " +
                   sentence_of(report.findings.front());
    return "";
}

}  // namespace

int check(const Arguments& arguments) {
    auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    for (const char* const option : {"--kernels", "--sanitize"}) {
        if (!arguments.has(option) || settings->request.backend != BackendChoice::cpu) continue;
        if (arguments.has("--backend"))
            return fail(Error::usage(fmt::format("{} needs a GPU: leave out --backend cpu", option)));
        settings->request.backend = BackendChoice::cuda;
    }
    const auto families = chosen_families(arguments, settings->request);
    if (!families) return fail(families.error());
    const auto seconds = settle_seconds(arguments);
    if (!seconds) return fail(seconds.error());
    if (const auto problem = options_problem(arguments, families->front()->name)) return fail(*problem);

    const auto requests = requests_for(*families, settings->request, *seconds, arguments.has("--first"));
    Interrupts interrupts;
    ShownReports reports(*families, *seconds, arguments.has("--json"));
    const auto show = [&](const CheckReport& report) { reports.show(report); };
    const auto checked =
        arguments.has("--sanitize")
            ? sanitize(settings->cache_directory, requests, interrupts.token(), show)
            : check_in_workers(settings->cache_directory, requests, interrupts.token(), show,
                               settings->workers, [&](const std::string& line) { reports.note(line); });
    const std::vector<CheckReport> all = reports.all();
    if (all.empty() && !checked) return fail(checked.error());
    const int printed = reports.print_rest();
    std::optional<Error> problem;
    if (arguments.has("--pictures")) problem = write_pictures(arguments.value("--pictures"), all);
    if (!checked) {
        Error error = checked.error();
        if (error.kind == Error::Kind::cancelled)
            error.text = fmt::format("cancelled: {} of {} families done",
                                     std::ranges::count(all, true, &CheckReport::complete), families->size());
        if (problem) error.text += "; " + problem->text;
        return fail(error);
    }
    if (problem) return fail(*problem);
    const std::string wrong = first_finding(all);
    for (const CheckReport& report : all)
        if (wrong.empty() && !has_judged(report))
            return fail(Error::failure(report.family + ": nothing could be judged"));
    return exit_code(printed, wrong, arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli

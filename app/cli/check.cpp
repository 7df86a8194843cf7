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
        for (const Variant& variant : family->variants) variants.push_back(variant.name);
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
        text += "  " + command_of(finding) + "\n";
        text += fmt::format("  found after {:.1f} s, by setting {}\n", finding.seconds, finding.number + 1);
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
    if (arguments.has("--sanitize") && settings->workers.size() > 1)
        return fail(Error::usage("--sanitize runs in one place; give one --on"));
    const auto families = chosen_families(arguments, settings->request);
    if (!families) return fail(families.error());
    const auto seconds = settle_seconds(arguments);
    if (!seconds) return fail(seconds.error());
    const std::string pictures = arguments.value("--pictures");
    if (!pictures.empty())
        if (const auto made = make_folder(pictures); !made) return fail(made.error());

    std::vector<CheckRequest> requests;
    for (const Family* family : *families) {
        CheckRequest request;
        request.base = settings->request;
        request.base.family = family->name;
        request.seconds = *seconds;
        request.only_first = arguments.has("--first");
        requests.push_back(std::move(request));
    }
    Interrupts interrupts;
    ProgressBar bar;
    std::map<std::string, double> shares;  // the completed share of every family
    const auto show = [&](const CheckReport& report) {
        shares[report.family] = part_done(report, *seconds);
        double sum = 0;
        for (const auto& [family, share] : shares) sum += share;
        const std::string trying = report.trying ? ", " + setting_words(*report.trying) : "";
        bar.show(sum / static_cast<double>(families->size()), report.family + trying);
        if (!report.complete || arguments.has("--json")) return;
        bar.clear();
        print(words_of(report));
    };
    const auto reports =
        arguments.has("--sanitize")
            ? sanitize(settings->cache_directory, requests, interrupts.token(), show)
            : check_in_workers(settings->cache_directory, requests, interrupts.token(), show,
                               settings->workers, [&](const std::string& line) { note_beside(bar, line); });
    bar.clear();
    if (!reports) return fail(reports.error());
    std::string wrong;
    for (const CheckReport& report : *reports)
        if (wrong.empty() && !report.findings.empty())
            wrong = report.family + " " + report.findings.front().variant + ": " +
                    sentence_of(report.findings.front());
    if (!pictures.empty())
        if (const auto problem = write_pictures(pictures, *reports)) return fail(*problem);
    const int printed = arguments.has("--json") ? print(to_json(*reports)) : 0;
    for (const CheckReport& report : *reports)
        if (wrong.empty() && !has_judged(report))
            return fail(Error::failure(report.family + ": nothing could be judged"));
    return exit_code(printed, wrong, arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/command_sources.h"
#include "app/cli/interrupts.h"
#include "app/cli/session_file.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/terminal.h"
#include "app/engine/files/files.h"
#include "app/engine/files/npz.h"
#include "app/engine/run/configure.h"
#include "app/engine/tables/tables.h"
#include "app/engine/tables/trace.h"
#include "app/engine/wire/json.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::cli {
namespace {

Arrays all_arrays(const Result& result) {
    Arrays arrays = result.inputs;
    const auto add = [&](const std::string& folder, const Arrays& outputs) {
        for (Array array : outputs) {
            // A reference named VARIANT/NAME only serves to compare that variant.
            if (array.name.find('/') != std::string::npos) continue;
            array.name = folder + "/" + array.name;
            arrays.push_back(std::move(array));
        }
    };
    for (const VariantResult& variant : result.variants) add(variant.name, variant.outputs);
    add("reference", result.reference);
    return arrays;
}

// A value as text; a real number in six digits.
std::string value_words(const Value& value) {
    const auto* const real = std::get_if<double>(&value);
    return real ? fmt::format("{:.6g}", *real) : to_text(value);
}

// Parameters that affect the numbers, in schema order, and how they were measured where that is unusual.
std::string heading(const Family& family, const Result& result) {
    std::string values;
    for (const Parameter& row : family.parameters)
        if (row.renews != Renews::figures &&
            why_unused(row, result.parameters, result.backend, result.request.arch).empty())
            values +=
                (values.empty() ? "" : ", ") + row.name + " " + value_words(result.parameters.at(row.name));
    const Request& request = result.request;
    std::string kind;
    if (request.values != Values::usual) kind += std::string(", values ") + name_of(request.values);
    if (request.optional) kind += ", optional inputs too";
    if (request.cache == Cache::hot) kind += ", caches hot";
    if (request.jitter != 0) kind += fmt::format(", jitter {}", request.jitter);
    if (request.multiprocessors != 0) kind += fmt::format(", {} multiprocessors", request.multiprocessors);
    if (!request.kernels.empty()) kind += ", kernels of " + request.kernels;
    return fmt::format("{} on {}, seed {}{}\n  {}\n\n", family.name, result.device, request.seed, kind,
                       wrapped(values, text_width - 2, 2));
}

// The table of launches, if only one variant ran.
std::string launches_of(const Result& result) {
    if (result.variants.size() != 1 || result.variants.front().launches.empty()) return "";
    Table table = launches_table(result.variants.front(), result.processors);
    constexpr size_t most = 40;
    const size_t left_out = table.rows.size() - std::min(table.rows.size(), most);
    table.rows.resize(table.rows.size() - left_out);
    std::string text = "\n" + table.plain();
    if (left_out > 0)
        text +=
            fmt::format("... and {} more; --json lists up to {} launches\n", left_out, most_kept_launches);
    return text;
}

// The wrong results and the skipped variants, one line each.
std::string verdicts_of(const Result& result) {
    std::string text;
    for (const VariantResult& variant : result.variants)
        if (const std::string words = wrong_sentence(variant); !words.empty())
            text += wrapped(variant.name + ": " + words, text_width, 2) + "\n";
    for (const std::string& line : skipped_lines(result)) text += wrapped(line, text_width, 2) + "\n";
    return text;
}

std::string text_of(const Family& family, const Result& result) {
    std::string text = heading(family, result) + plain_within(measured_table(result), text_width);
    if (const std::string lines = verdicts_of(result); !lines.empty()) text += "\n" + lines;
    if (const Table errors = errors_table(result); errors.rows.size() > result.variants.size())
        text += "\n" + plain_within(errors, text_width);
    text += launches_of(result);
    if (const Table compiled = compiled_table(result); !result.request.arch.empty() && !compiled.rows.empty())
        text += "\n" + plain_within(compiled, text_width);
    if (result.ceilings) text += "\n" + wrapped(words_of(*result.ceilings), text_width, 2) + "\n";
    if (result.clocks) text += wrapped(sentence_of(*result.clocks), text_width, 2) + "\n";
    for (const std::string& note : other_notes(result))
        text += wrapped("note: " + note, text_width, 2) + "\n";
    return text;
}

// The result: with its arrays for a file of outputs, with its figures for a session.
Outcome<Source::Seen> compute(const Arguments& arguments, const Settings& settings, const Request& request,
                              std::stop_token stop, ProgressBar& bar) {
    CommandSources sources(settings.cache_directory);
    Source& source = sources.of(request);
    constexpr ResultId id = 1;
    const auto view = arguments.has("--session") ? std::optional(View()) : std::nullopt;
    auto seen = source.run(id, request, view, stop, [&](const Progress& progress, auto) {
        bar.show(progress.fraction, progress.words);
    });
    if (!seen || !arguments.has("--output")) return seen;
    bar.show(1, "fetching arrays");
    const auto whole = source.whole(id, std::move(stop));
    if (!whole) return whole.error();
    seen->result = *whole;
    return seen;
}

// Which outputs to store that are stored only on request.
Extras extras_of(const Arguments& arguments) {
    if (arguments.has("--output")) return Extras::all;
    return arguments.has("--session") ? Extras::drawable : Extras::none;
}

// Refuses files that cannot be written, before the run.
std::optional<Error> check_files(const Arguments& arguments, const Request& request) {
    std::vector<std::string> taken;
    for (const char* option : {"--session", "--output", "--trace"}) {
        if (!arguments.has(option)) continue;
        const std::string path = arguments.value(option), place = place_of(path);
        if (std::find(taken.begin(), taken.end(), place) != taken.end())
            return Error::usage(Refusal{option, path, "another document is already written there"});
        taken.push_back(place);
        if (option == std::string_view("--session")) continue;  // checked below
        if (auto problem = check_replaceable(path)) return problem;
    }
    if (arguments.has("--trace") && request.profile == Profile::none)
        return Error::usage(
            "--trace needs launches, and --profile none records none; use --profile timeline");
    return check_session(arguments);
}

std::optional<Error> write_trace(const std::string& path, const Result& result) {
    if (!has_launches(result)) return Error::failure(path + ": not written: no variant recorded launches");
    return write_file(path, to_trace(result));
}

}  // namespace

int run(const Arguments& arguments) {
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    if (const auto problem = check_files(arguments, settings->request)) return fail(*problem);

    Interrupts interrupts;
    ProgressBar bar;
    Request request = settings->request;
    request.extras = extras_of(arguments);
    const auto ran = compute(arguments, *settings, request, interrupts.token(), bar);
    bar.clear();
    if (!ran) return fail(ran.error());
    const Result& result = *ran->result;
    // What was measured is printed and kept wherever that is possible.
    const int printed = print(arguments.has("--json") ? to_json(result) : text_of(*settings->family, result));
    std::string problems;
    const auto attempt = [&](const std::optional<Error>& problem) {
        if (problem) problems += (problems.empty() ? "" : "; ") + problem->text;
    };
    if (arguments.has("--output")) attempt(write_npz(arguments.value("--output"), all_arrays(result)));
    if (arguments.has("--trace")) attempt(write_trace(arguments.value("--trace"), result));
    attempt(add_to_session(arguments, [&](Session& session) {
        session.history.push_back(session.results.size());
        session.results.emplace_back(result, ran->figures);
    }));
    if (!problems.empty()) return fail(Error::failure(problems));
    return exit_code(printed, first_wrong(result), arguments.has("--allow-wrong"));
}

}  // namespace sawtooth::cli

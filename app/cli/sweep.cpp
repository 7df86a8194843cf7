#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/cli/command_sources.h"
#include "app/cli/interrupts.h"
#include "app/cli/settings.h"
#include "app/cli/subcommands.h"
#include "app/cli/sweep_documents.h"
#include "app/cli/terminal.h"
#include "app/engine/files/files.h"
#include "app/engine/run/configure.h"
#include "app/engine/run/shards.h"
#include "app/engine/run/sweep_axes.h"
#include "app/engine/session/sweep_file.h"
#include "app/engine/sources/sweep_loop.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth::cli {
namespace {

void show(ProgressBar& bar, const SweepResult& so_far, const std::string& words) {
    bar.show(static_cast<double>(count_of_measured(so_far)) / static_cast<double>(so_far.sweep.cells()),
             words);
}

// The cells of the shard, or all, of which the sweep has no result yet. Refused cells are tried again,
// because time, memory or a device may have been lacking.
std::vector<size_t> cells_to_measure(const SweepResult& result, const std::optional<Shard>& shard) {
    std::vector<size_t> cells = cells_of_shard(costs_of_cells(result.sweep), shard.value_or(Shard()));
    std::erase_if(cells, [&](size_t cell) { return result.cells[cell].result != nullptr; });
    return cells;
}

// Why none of the cells ran, if not for their settings: a device, memory or time is lacking; otherwise "".
std::string why_none_ran(const SweepResult& result, const std::vector<size_t>& cells) {
    std::string why;
    for (const size_t cell : cells) {
        if (result.cells[cell].result) return "";
        const Request request = result.sweep.request(cell);
        const Backend backend = request.backend == BackendChoice::cuda ? Backend::cuda : Backend::cpu;
        if (why.empty() && configure_shapes(request, {}, backend)) why = result.cells[cell].refused;
    }
    return why;
}

// The session file, if there is one. With --resume its cells are put into the sweep.
Outcome<std::optional<SweepFile>> open_file(const Arguments& arguments, SweepResult& result) {
    if (!arguments.has("--session")) return std::optional<SweepFile>();
    const std::string path = arguments.value("--session");
    if (auto problem = check_replaceable(path)) return *problem;
    auto file = (arguments.has("--resume") ? SweepFile::resumed : SweepFile::added)(path, result.sweep);
    if (!file) return file.error();
    if (auto problem = file->fill(result)) return *problem;
    return std::optional(std::move(*file));
}

// Refuses options that do not go together.
std::optional<Error> check_together(const Arguments& arguments, const Settings& settings,
                                    const Sweep& sweep) {
    const bool searches = arguments.has("--best");
    if (searches && !sweep.base.recording.empty())
        return Error::usage(
            "--best measures the fastest again and again, which a recording cannot; leave one out");
    if (searches && settings.workers.size() > 1)
        return Error::usage("--best measures the fastest in turns on one machine; give one --on");
    for (const char* const option : {"--shard", "--resume"}) {
        if (!arguments.has(option)) continue;
        if (searches)
            return Error::usage(
                fmt::format("{} needs cells that are measured once; leave out --best", option));
        if (!arguments.has("--session"))
            return Error::usage(
                fmt::format("{} needs --session FILE, the file that keeps the cells", option));
    }
    for (const char* const option : {"--best", "--export"})
        if (const Parameter* const inputs = swept_inputs(sweep, *settings.family);
            inputs && arguments.has(option))
            return Error::usage(fmt::format(
                "{} looks for the fastest values, but cells that differ in {} do different work; leave it "
                "out of --over",
                option, inputs->name));
    return {};
}

// A search measures in its own order, in one place.
std::optional<Error> search(Source& source, SweepResult& result, std::stop_token stop, ProgressBar& bar) {
    const auto swept = run_sweep(source, result.sweep, std::move(stop), [&](const SweepResult& done) {
        result = done;
        const bool all_ran = done.cells.size() == done.sweep.cells();
        show(bar, done, all_ran ? "the fastest again" : cell_words(done.sweep, done.cells.back().values));
    });
    if (!swept) return swept.error();
    result = *swept;
    return {};
}

// Measures those cells of `result` where the settings say. After an error it has the finished ones.
std::optional<Error> measure(const Settings& settings, SweepResult& result, const std::vector<size_t>& cells,
                             std::optional<SweepFile>& file, const std::stop_token& stop, ProgressBar& bar) {
    const auto done = [&](size_t cell) {
        if (file) file->add(cell, result.cells[cell]);
        show(bar, result, cell_words(result.sweep, result.sweep.cell(cell)));
    };
    show(bar, result, "first cell");
    // A team starts a lost worker again, and leaves its cell unmeasured if that is lost, too.
    if (!settings.workers.empty() && !result.sweep.search)
        return run_cells_in_team(settings.workers, settings.cache_directory, result, cells, stop, done,
                                 [&](const std::string& line) { note_beside(bar, line); });
    CommandSources sources(settings.cache_directory);
    Source& source = sources.of(result.sweep.base);
    if (result.sweep.search) {
        auto error = search(source, result, stop, bar);
        for (size_t cell = 0; file && cell < result.cells.size(); ++cell)
            if (!is_missing(result.cells[cell])) file->add(cell, result.cells[cell]);
        return error;
    }
    return run_cells(source, result, cells, stop, done);
}

}  // namespace

int sweep(const Arguments& arguments) {
    const auto settings = settle(arguments);
    if (!settings) return fail(settings.error());
    if (const auto problem = check_for_all_cells(*settings)) return fail(*problem);
    const auto axes = settle_axes(arguments, *settings);
    if (!axes) return fail(axes.error());
    const Sweep sweep{"", settings->request, *axes, arguments.has("--best")};
    if (const auto problem = check_export(arguments, *settings, *axes)) return fail(*problem);
    if (const auto problem = check_together(arguments, *settings, sweep)) return fail(*problem);
    const auto shard = settle_shard(arguments);
    if (!shard) return fail(shard.error());
    const auto files = settle_files(arguments);
    if (!files) return fail(files.error());
    SweepResult result = unmeasured(sweep);
    auto file = open_file(arguments, result);
    if (!file) return fail(file.error());
    for (const std::string& note : settings->notes) print_note(note);
    for (const std::string& note : axes_without_effect(sweep)) print_note(note);

    Interrupts interrupts;
    ProgressBar bar;
    const std::vector<size_t> cells = cells_to_measure(result, *shard);
    auto error = measure(*settings, result, cells, *file, interrupts.token(), bar);
    bar.clear();
    const size_t measured = count_of_measured(result);
    if (error && error->kind == Error::Kind::cancelled)
        error->text = fmt::format("cancelled: {} of {} cells done", measured, sweep.cells());
    if (error && measured == 0) return fail(*error);  // keeps the existing files
    const auto problem = *file ? (*file)->write() : std::nullopt;
    const int status = write_sweep(arguments, *files, result, error);
    if (problem) return fail(*problem);
    const std::string why = error ? "" : why_none_ran(result, cells);
    if (!why.empty() && status == 0) return fail(Error::failure("no cell ran: " + why));
    return status;
}

}  // namespace sawtooth::cli

#include "app/engine/sources/sweep_loop.h"

#include <utility>

#include "app/engine/run/current_cell.h"
#include "app/engine/run/sweep_axes.h"
#include "app/engine/sources/worker_team.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

// A cell that has neither a result nor a reason would count as not measured.
void put(SweepResult& result, size_t index, SweepCell cell) {
    if (is_missing(cell)) cell.refused = "the worker gave no reason";
    result.cells[index] = std::move(cell);
    result.complete = count_of_measured(result) == result.cells.size();
}

}  // namespace

std::optional<Error> take_next_cell(SweepSteps& steps, Source& source, std::stop_token stop,
                                    const Result* newest) {
    const Sweep& whole = steps.result().sweep;
    if (steps.result().cells.empty())
        if (auto error = check_sweep(whole)) return error;
    const SweepSteps::Step step = *steps.next();
    // A search measures its cells in its own way.
    auto known = newest && !whole.search ? cell_from(step.sweep, step.cell, *newest) : std::nullopt;
    auto cell =
        known ? Outcome<SweepCell>(std::move(*known)) : source.cell(step.sweep, step.cell, std::move(stop));
    if (!cell) return cell.error();
    steps.take(std::move(*cell));
    return {};
}

Outcome<SweepResult> run_sweep(Source& source, const Sweep& sweep, std::stop_token stop, const OnCell& done) {
    SweepSteps steps(sweep);
    do {
        if (auto error = take_next_cell(steps, source, stop)) return *error;
        if (done) done(steps.result());
    } while (!steps.result().complete);
    return steps.result();
}

std::optional<Error> run_cells(Source& source, SweepResult& result, const std::vector<size_t>& cells,
                               const std::stop_token& stop, const OnMeasured& done) {
    if (auto error = check_sweep(result.sweep)) return error;
    for (const size_t index : cells) {
        auto cell = source.cell(result.sweep, index, stop);
        if (!cell) return cell.error();
        put(result, index, std::move(*cell));
        if (done) done(index);
    }
    return {};
}

std::optional<Error> run_cells_in_team(const std::vector<std::string>& commands,
                                       const std::string& cache_directory, SweepResult& result,
                                       const std::vector<size_t>& cells, const std::stop_token& stop,
                                       const OnMeasured& done,
                                       const std::function<void(const std::string&)>& told) {
    if (auto error = check_sweep(result.sweep)) return error;
    std::vector<SweepCell> measured(cells.size());
    TeamTask task;
    task.commands = commands;
    task.base = result.sweep.base;
    task.parts = cells.size();
    task.part_name = "cell";
    task.told = told;
    task.work = [&, sweep = result.sweep](WorkerSource& source, const std::string& on, size_t part,
                                          std::stop_token stop_team) -> std::optional<TeamTask::PartError> {
        Sweep own = sweep;
        own.base.on = on;
        auto cell = source.cell(own, cells[part], std::move(stop_team));
        if (const auto loss = source.cells().take_loss())
            return TeamTask::PartError{Error::failure(*loss), true};
        if (!cell) return TeamTask::PartError{cell.error()};
        measured[part] = std::move(*cell);
        return {};
    };
    const auto finish = [&](size_t part, SweepCell cell) {
        put(result, cells[part], std::move(cell));
        if (done) done(cells[part]);
    };
    task.finished = [&](size_t part) { finish(part, std::move(measured[part])); };
    task.given_up = [&](size_t part, const Error& error) {
        finish(part, {result.sweep.cell(cells[part]), "two workers were lost: " + error.text, nullptr});
    };
    return run_team(task, cache_directory, stop);
}

}  // namespace sawtooth

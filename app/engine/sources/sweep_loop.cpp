#include "app/engine/sources/sweep_loop.h"

#include <utility>

#include "app/engine/run/current_cell.h"
#include "app/engine/run/sweep_axes.h"

namespace sawtooth {

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

}  // namespace sawtooth

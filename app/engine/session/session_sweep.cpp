#include "app/engine/session/session.h"

#include <algorithm>

#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

// Whether the result is like those of a run, on which the figures of families rely.
bool is_usual(const Result& result) {
    return !result.variants.empty() &&
           std::all_of(result.variants.begin(), result.variants.end(), [](const VariantResult& variant) {
               return !variant.ran() || !variant.errors.empty();
           });
}

}  // namespace

void add_sweep(Session& session, const SweepResult& sweep) {
    SessionSweep added{sweep.sweep, {}};
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const SweepCell& cell = sweep.cells[i];
        if (is_missing(cell)) continue;
        added.cells.push_back({i, cell.values, cell.refused, {}});
        if (!cell.result) continue;
        added.cells.back().result = session.results.size();
        session.results.emplace_back(*cell.result);
    }
    session.sweeps.push_back(std::move(added));
}

Outcome<SweepResult> open_sweep(const Session& session, const SessionSweep& sweep) {
    SweepResult opened = unmeasured(sweep.sweep);
    size_t measured = 0;  // from the first cell on
    for (const SessionSweep::Cell& cell : sweep.cells) {
        SweepCell& to = opened.cells[cell.index];
        to.refused = cell.refused;
        measured += cell.index == measured;
        if (!cell.result) continue;
        auto result = session.results[*cell.result].open();
        if (!result) return result.error();
        to.result = std::move(result->result);
        if (!is_usual(*to.result)) opened.sweep.id.clear();
    }
    // A sweep that was interrupted ends with its last cell; one with gaps has all cells.
    if (measured == sweep.cells.size()) opened.cells.resize(measured);
    opened.complete = count_of_measured(opened) == sweep.sweep.cells();
    return opened;
}

}  // namespace sawtooth

#include "app/engine/session/session.h"

#include <algorithm>

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
    for (const SweepCell& cell : sweep.cells) {
        added.cells.push_back({added.cells.size(), cell.values, cell.refused, {}});
        if (!cell.result) continue;
        added.cells.back().result = session.results.size();
        session.results.emplace_back(*cell.result);
    }
    session.sweeps.push_back(std::move(added));
}

Outcome<SweepResult> open_sweep(const Session& session, const SessionSweep& sweep) {
    SweepResult opened{sweep.sweep, {}, sweep.cells.size() == sweep.sweep.cells()};
    for (const SessionSweep::Cell& cell : sweep.cells) {
        opened.cells.push_back({cell.values, cell.refused, nullptr});
        if (!cell.result) continue;
        auto result = session.results[*cell.result].open();
        if (!result) return result.error();
        opened.cells.back().result = std::move(result->result);
        if (!is_usual(*opened.cells.back().result)) opened.sweep.id.clear();
    }
    return opened;
}

}  // namespace sawtooth

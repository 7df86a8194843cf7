#include "app/engine/run/sweep_steps.h"

#include <algorithm>
#include <utility>

#include "app/engine/run/current_cell.h"
#include "kernels/figures/sweep_cells.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

constexpr size_t visits_to_tell = 9;  // fewer alternating repeats cannot exclude chance
constexpr size_t most_rounds = 24, finalists = 3;

// Adds the samples of `again`; values that follow from the median change with it.
void join(VariantResult& variant, const VariantResult& again) {
    if (again.verdict() == Verdict::wrong) variant.verdicts = again.verdicts;
    if (!variant.time || !again.time) return;
    const TimeStatistics before = std::move(*variant.time);
    std::vector<double> samples = before.samples;
    samples.insert(samples.end(), again.time->samples.begin(), again.time->samples.end());
    variant.time = statistics_of(std::move(samples));
    variant.time->disturbed = before.disturbed;
    for (const int64_t sample : again.time->disturbed)
        variant.time->disturbed.push_back(sample + static_cast<int64_t>(before.samples.size()));
    for (Metric& metric : variant.metrics)
        if (metric.value && (metric.id == "rate" || metric.id == "operations" || metric.id == "of_copy"))
            *metric.value *= before.median / variant.time->median;
}

std::shared_ptr<const Result> joined(const Result& before, const Result& again) {
    auto both = std::make_shared<Result>(before);
    for (VariantResult& variant : both->variants) {
        if (const VariantResult* const more = find(again, variant.name))
            join(variant, *more);
        else
            both->in_turns = false;  // it has fewer repeats than the others
    }
    return both;
}

}  // namespace

SweepSteps::SweepSteps(Sweep sweep) : result_{std::move(sweep), {}, false} {}

// The largest number of repeats of a variant: as many as without a search, and enough to tell the finalists
// apart.
int64_t SweepSteps::budget() const {
    const Sweep& sweep = result_.sweep;
    return static_cast<int64_t>(sweep.cells()) * sweep.base.repeats +
           static_cast<int64_t>(finalists * visits_to_tell) * repeats_of_visit(sweep, 1);
}

std::optional<SweepSteps::Step> SweepSteps::next() const {
    if (result_.complete) return {};
    Step step{result_.sweep, result_.cells.size()};
    step.sweep.search = false;
    step.sweep.base.repeats = repeats_of_visit(result_.sweep, round_);
    if (round_ > 0) {
        step.cell = visits_.back().cell;
        step.sweep.base.variants = visits_.back().variants;
    }
    return step;
}

void SweepSteps::take(SweepCell cell) {
    const size_t all = result_.sweep.cells();
    if (cell.result)
        for (const VariantResult& variant : cell.result->variants)
            if (variant.time) spent_[variant.name] += std::ssize(variant.time->samples);
    if (round_ == 0) {
        result_.cells.push_back(std::move(cell));
        if (result_.cells.size() < all) return;
        if (!result_.sweep.search) {
            result_.complete = true;
            return;
        }
        for (const BestCells& best : best_cells(result_))
            for (size_t each = 0; each < all; ++each) playing_[best.variant].insert(each);
    } else {
        const Visit visit = std::move(visits_.back());
        visits_.pop_back();
        SweepCell& known = result_.cells[visit.cell];
        if (cell.result)
            known.result = joined(*known.result, *cell.result);
        else
            for (const std::string& variant : visit.variants) playing_[variant].erase(visit.cell);
    }
    if (visits_.empty()) begin_round();
}

// The cells of a variant to visit in the next round; empty if its fastest cell is known or the repeats are
// used up.
std::vector<size_t> SweepSteps::wanted_of(const std::string& variant) {
    const auto time = [&](size_t cell) -> const TimeStatistics& {
        return *right_in(result_.cells[cell], variant)->time;
    };
    const std::set<size_t>& playing = playing_[variant];
    std::vector<size_t> cells = best_cells(result_, variant).cells;
    const size_t best = cells.empty() ? 0 : cells.front();
    std::erase_if(cells, [&](size_t cell) { return !playing.contains(cell); });
    const bool is_told = std::all_of(cells.begin(), cells.end(), [&](size_t cell) {
        return cell == best || compare_cells(result_.sweep, time(best), time(cell)).pace == Pace::same;
    });
    if (cells.size() < 2 || is_told || round_ > most_rounds) return {};
    std::sort(cells.begin(), cells.end(),
              [&](size_t one, size_t other) { return time(one).median < time(other).median; });
    const auto left = static_cast<size_t>(std::max<int64_t>(0, budget() - spent_[variant]));
    const auto repeats = static_cast<size_t>(repeats_of_visit(result_.sweep, 1));
    const size_t affordable = left / (repeats * (round_ < visits_to_tell ? visits_to_tell - round_ : 1));
    cells.resize(std::min(cells.size(), std::max({finalists, (playing.size() + 1) / 2, affordable})));
    return cells.size() * repeats > left ? std::vector<size_t>() : cells;
}

void SweepSteps::begin_round() {
    ++round_;
    std::map<size_t, std::vector<std::string>> variants;  // variants to run, by cell
    for (auto& [variant, playing] : playing_) {
        const std::vector<size_t> cells = wanted_of(variant);
        playing = {cells.begin(), cells.end()};
        for (const size_t cell : cells) variants[cell].push_back(variant);
    }
    for (auto& [cell, names] : variants) visits_.push_back({cell, std::move(names)});
    if (round_ % 2 == 0) std::reverse(visits_.begin(), visits_.end());
    result_.complete = visits_.empty();
}

// The numbers of a search are not replaced: its cells have more repeats than the result.
bool SweepSteps::renew(const Result& newest) {
    const auto renewed = result_.sweep.search ? nullptr : with_current(result_, newest);
    if (renewed) result_ = *renewed;
    return renewed != nullptr;
}

}  // namespace sawtooth

#include "app/gui/state/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/engine/run/configure.h"
#include "app/engine/run/result_figures.h"
#include "app/engine/run/run_rows.h"
#include "app/engine/run/sweep_axes.h"
#include "app/gui/state/backends.h"
#include "app/gui/state/effect.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/shown_values.h"
#include "kernels/core/typed_values.h"
#include "kernels/figures/sweep_cells.h"

namespace sawtooth {
namespace {

// The sweep without those base values that its axes replace or that renew only figures.
Sweep decisive(Sweep sweep, const Family& family) {
    auto& values = sweep.base.parameters.values;
    for (const SweepAxis& axis : sweep.axes) {
        values.erase(axis.parameter);
        for (const std::string& name : axis.also) values.erase(name);
    }
    for (const Parameter& row : family.parameters)
        if (row.renews == Renews::figures) values.erase(row.name);
    return sweep;
}

// Returns whether two sweeps give the same numbers. A parameter that has no effect in the base may have one
// in a cell, so with different bases every cell is compared.
bool alike(const LabState& lab, const Sweep& one, const Sweep& other) {
    if (decisive(one, *lab.family) == decisive(other, *lab.family)) return true;
    if (one.axes != other.axes) return false;
    for (size_t cell = 0; cell < one.cells(); ++cell)
        if (deciding(lab, one.request(cell)) != deciding(lab, other.request(cell))) return false;
    return true;
}

// The Request of a sweep as the window would ask for it now. A sweep of a file may have been started on the
// command line, with other stored outputs and limits; these change no number unless a cell was refused.
Request as_asked_now(Request asked, const BackgroundSweep& sweep, const Request& now) {
    asked.extras = now.extras;
    if (sweep.result && sweep.result->sweep == sweep.sweep &&
        std::all_of(sweep.result->cells.begin(), sweep.result->cells.end(),
                    [](const SweepCell& cell) { return cell.refused.empty(); })) {
        asked.time_limit_seconds = now.time_limit_seconds;
        asked.memory_limit_bytes = now.memory_limit_bytes;
    }
    return asked;
}

// Whether the sweep has, or will have, the numbers of a sweep that would be started now.
bool has_numbers_of(const LabState& lab, const BackgroundSweep& sweep, const Sweep& wanted) {
    Sweep known = sweep.sweep;
    known.base = as_asked_now(std::move(known.base), sweep, wanted.base);
    return alike(lab, known, wanted);
}

// The same sweep of the user with other settings.
Sweep again_with(const Sweep& sweep, const Request& base, const Parameters& parameters) {
    Sweep again = sweep;
    again.base = base;
    again.base.parameters = parameters;
    again.base.repeats = sweep.base.repeats;
    return again;
}

// Whether the sweep has other numbers than it would have with these settings; `known` is the last answer.
bool differs(const LabState& lab, const BackgroundSweep& sweep, const Request& now,
             const Parameters& parameters, Backend backend, std::optional<BackgroundSweep::Compared>& known) {
    if (sweep.of_earlier_base) return true;
    if (known && known->base == sweep.sweep.base && known->now == now && known->backend == backend)
        return !known->alike;
    std::vector<Sweep> wanted;
    if (sweep.by_person)
        wanted = {again_with(sweep.sweep, now, parameters)};
    else if (!(lab.family->check && lab.family->check(parameters)))  // impossible settings have no sweeps
        wanted = figure_sweeps(now, parameters, backend);
    const bool are_alike = std::any_of(wanted.begin(), wanted.end(), [&](const Sweep& each) {
        return each.id == sweep.sweep.id && has_numbers_of(lab, sweep, each);
    });
    known = {sweep.sweep.base, now, backend, are_alike};
    return !are_alike;
}

// The start of the key of a sweep of the user.
constexpr const char* by_hand = "by hand: ";

std::string title_of(const Sweep& sweep) {
    std::string names;
    for (const SweepAxis& axis : sweep.axes) names += (names.empty() ? "" : " and ") + axis.parameter;
    return (sweep.search ? "search over " : "sweep over ") + names;
}

std::string key_of(const Sweep& sweep) { return sweep.id.empty() ? by_hand + title_of(sweep) : sweep.id; }

// The sweep with that key; it is created if there is none.
BackgroundSweep& background_of(LabState& lab, const std::string& key, bool by_person) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.key == key) return sweep;
    BackgroundSweep fresh;
    fresh.key = key;
    fresh.by_person = by_person;
    return lab.sweeps.emplace_back(std::move(fresh));
}

// Figures with titles and axes but no data, so that they have their room from the start.
Figures figures_to_come(const Sweep& sweep) {
    std::vector<Figure> figures = figures_of(SweepResult{sweep, {}, false});
    for (Figure& figure : figures) {
        figure.marks.clear();
        figure.caption.clear();
        figure.missing = fmt::format("0 of {} points", sweep.cells());
    }
    return std::make_shared<const std::vector<Figure>>(std::move(figures));
}

void start(LabState& lab, BackgroundSweep& background, Sweep sweep) {
    cancel_sweep(lab, background);
    background.title = title_of(sweep);
    background.sweep = std::move(sweep);
    background.of_earlier_base =
        background.figures != nullptr && (background.of_earlier_base || background.done > 0);
    background.problem.clear();
    background.best = {};
    background.best_words.clear();
    background.done = 0;
    if (!background.of_earlier_base) background.figures = figures_to_come(background.sweep);
    background.ticket = lab.engine.sweep(background.sweep);
}

// "; lookback or blelloch may be as fast": the variants whose best cell cannot be told from the fastest.
std::string untold_words(const SweepResult& result, const VariantResult& fastest) {
    std::string names;
    for (const BestCells& best : best_cells(result)) {
        const VariantResult& other = *right_in(result.cells[best.cells.front()], best.variant);
        if (other.name == fastest.name || other.exact != fastest.exact) continue;
        if (compare_cells(result.sweep, *fastest.time, *other.time).pace != Pace::faster)
            names += (names.empty() ? "" : " or ") + other.name;
    }
    return names.empty() ? "" : "; " + names + " may be as fast";
}

// Keeps the correct result with the least median of all variants; exact variants come first.
void keep_best(BackgroundSweep& background, const SweepResult& result) {
    if (!has_best(result.sweep, **find_offered_family(result.sweep.base.family))) return;
    const VariantResult* fastest = nullptr;
    for (const BestCells& best : best_cells(result)) {
        const SweepCell& cell = result.cells[best.cells.front()];
        const VariantResult* const variant = right_in(cell, best.variant);
        const bool is_first =
            !fastest || (variant->exact && !fastest->exact) ||
            (variant->exact == fastest->exact && variant->time->median < fastest->time->median);
        if (!is_first) continue;
        fastest = variant;
        background.best_words = best_words(result, best);
        background.best = {};
        for (size_t a = 0; a < cell.values.size(); ++a)
            for (const std::string& name : names_of(result.sweep.axes[a]))
                background.best.set(name, cell.values[a]);
    }
    if (fastest) background.best_words += untold_words(result, *fastest);
}

// Nine values within the range in even steps; the current value is one of them.
std::vector<double> even_steps(const Parameter& row, double present) {
    const bool whole = row.type == Type::integer;
    const double range = row.maximum - row.minimum;
    double step = std::min(std::max(std::abs(present), whole ? 8.0 : 1e-3) / 4, range / 8);
    if (whole) step = std::max(1.0, std::floor(step));
    const double below = std::min(4.0, std::floor((present - row.minimum) / step));
    const double above = std::min(8 - below, std::floor((row.maximum - present) / step));
    std::vector<double> values;
    for (double i = -std::min(8 - above, std::floor((present - row.minimum) / step)); i <= above; ++i)
        values.push_back(present + i * step);
    return values;
}

std::vector<double> powers_of_two(const Parameter& row, double present) {
    const double middle = std::round(std::log2(std::max(present, 1.0)));
    std::vector<double> values;
    for (double exponent = middle - 4; exponent <= middle + 4; ++exponent) {
        const double value = std::exp2(exponent);
        if (value >= std::max(row.minimum, 1.0) && value <= row.maximum) values.push_back(value);
    }
    return values;
}

}  // namespace

std::vector<Value> sweep_values(const Parameter& row, const Value& present) {
    if (row.type == Type::list || row.renews == Renews::figures) return {};
    if (row.type == Type::boolean) return {false, true};
    if (row.type == Type::choice) return row.choices;
    double middle = row.minimum;
    if (const auto* integer = std::get_if<int64_t>(&present)) middle = static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&present)) middle = *real;
    std::vector<Value> values;
    for (double value :
         row.step == Step::powers_of_two ? powers_of_two(row, middle) : even_steps(row, middle))
        values.push_back(number_value(row, value));
    return values;
}

std::string reason_not_swept(const LabState& lab, const Parameter& row) {
    if (is_run_row(row)) return "It is not a parameter of the family.";
    if (row.type == Type::list) return "Lists cannot be swept.";
    if (row.renews == Renews::figures) return "It only affects figures; nothing would run.";
    if (const std::string fixed = reason_fixed(lab, row); !fixed.empty()) return fixed;
    const std::string unused = reason_unused(lab, row);
    return unused.empty() ? "" : fmt::format("It has no effect now: {}.", unused);
}

void open_sweep_form(LabState& lab, const Parameter& row) {
    lab.sweep_form = SweepForm{row.name, range_text(row, sweep_values(row, present_value(lab, row)))};
    lab.sweep_form->repeats = lab.request.repeats;
}

Outcome<Sweep> sweep_of(const LabState& lab, const SweepForm& form) {
    Sweep sweep{"", request_of(lab), {}, form.search};
    sweep.base.parameters = lab.parameters;
    sweep.base.repeats = form.repeats;
    const auto add = [&](const std::string& over, const std::string& values) -> std::optional<Error> {
        auto axis = parse_axis(*lab.family, over, values);
        if (!axis) return axis.error();
        for (const std::string& name : names_of(*axis))
            if (const std::string fixed = reason_fixed(lab, *lab.family->parameter(name)); !fixed.empty())
                return Error::usage(name + ": " + fixed);
        sweep.axes.push_back(std::move(*axis));
        return {};
    };
    if (auto error = add(form.over, form.values)) return *error;
    if (!form.second.empty())
        if (auto error = add(form.second, form.second_values)) return *error;
    if (auto error = check_sweep(sweep)) return *error;
    if (const Parameter* const inputs = swept_inputs(sweep, *lab.family); inputs && form.search)
        return Error::usage(fmt::format(
            "a search looks for the fastest values, but cells that differ in {} do different work",
            inputs->name));
    if (const auto without = axes_without_effect(sweep); !without.empty())
        return Error::usage(without.front());
    return sweep;
}

void start_sweep(LabState& lab) {
    auto sweep = sweep_of(lab, *lab.sweep_form);
    if (!sweep) return;
    lab.sweep_form.reset();
    BackgroundSweep& background = background_of(lab, key_of(*sweep), true);
    start(lab, background, std::move(*sweep));
    note(lab, LogLine::Kind::note, background.title + ": " + count_words(background.sweep.cells(), "point"));
}

std::vector<Sweep> unfinished_sweeps(const LabState& lab) {
    std::vector<Sweep> unfinished;
    for (const BackgroundSweep& sweep : lab.sweeps)
        if (sweep.by_person && sweep.ticket) unfinished.push_back(sweep.sweep);
    return unfinished;
}

void start_again(LabState& lab, const std::vector<Sweep>& sweeps) {
    for (const Sweep& sweep : sweeps) start(lab, background_of(lab, key_of(sweep), true), sweep);
}

void set_best(LabState& lab, const Parameters& best) {
    for (const auto& [name, value] : best.values)
        if (const Parameter* const row = lab.family->parameter(name)) set_parameter(lab, *row, value);
}

void announce_sweeps(LabState& lab) {
    const auto is_of_figure = [](const BackgroundSweep& sweep) { return !sweep.by_person; };
    if (std::any_of(lab.sweeps.begin(), lab.sweeps.end(), is_of_figure)) return;
    const Request& base = lab.result->request;
    for (Sweep& sweep : figure_sweeps(base, lab.result->parameters, lab.result->backend)) {
        BackgroundSweep& background = background_of(lab, sweep.id, false);
        background.title = title_of(sweep);
        background.figures = figures_to_come(sweep);
        background.sweep = std::move(sweep);
    }
}

void restart_sweeps(LabState& lab) {
    if (!lab.result) return;
    const bool is_set = shows_what_is_set(lab);
    const Request base = is_set ? request_of(lab) : lab.result->request;
    const Parameters& parameters = is_set ? lab.parameters : lab.result->parameters;
    const auto renew = [&](BackgroundSweep& background, Sweep sweep) {
        const bool alive = background.ticket || background.done == background.sweep.cells();
        if (alive && has_numbers_of(lab, background, sweep)) return;
        start(lab, background, std::move(sweep));
    };
    for (BackgroundSweep& kept : lab.sweeps)
        if (kept.by_person) renew(kept, again_with(kept.sweep, base, parameters));
    std::set<std::string> wanted;
    for (Sweep& sweep : figure_sweeps(base, parameters, lab.result->backend)) {
        wanted.insert(sweep.id);
        BackgroundSweep& background = background_of(lab, sweep.id, false);
        renew(background, std::move(sweep));
    }
    // Removes the sweeps of figures that the family no longer shows with these settings.
    for (BackgroundSweep& sweep : lab.sweeps)
        if (!sweep.by_person && !wanted.contains(sweep.key)) cancel_sweep(lab, sweep);
    std::erase_if(lab.sweeps, [&](const BackgroundSweep& sweep) {
        return !sweep.by_person && !wanted.contains(sweep.key);
    });
}

void show_finished_sweep(LabState& lab, const SweptBefore& swept) {
    const SweepResult& result = *swept.result;
    const bool by_person = result.sweep.id.empty();
    BackgroundSweep& background = background_of(lab, key_of(result.sweep), by_person);
    background.sweep = result.sweep;
    background.title = title_of(result.sweep);
    background.done = result.cells.size();
    background.figures = swept.figures;
    if (by_person && result.complete) keep_best(background, result);
    background.result = swept.result;
    background.result_figures = swept.figures;
    background.is_saved = swept.is_saved;
}

bool is_replaced(const LabState& lab, const SweepResult& sweep) {
    const std::string &family = sweep.sweep.base.family, key = key_of(sweep.sweep);
    if (family == lab.family->name && std::any_of(lab.sweeps.begin(), lab.sweeps.end(),
                                                  [&](const BackgroundSweep& s) { return s.key == key; }))
        return true;
    const auto& others = lab.session.sweeps;
    const auto same = [&](const SweptBefore& other) {
        return other.result->sweep.base.family == family && key_of(other.result->sweep) == key;
    };
    const auto last = std::find_if(others.rbegin(), others.rend(), same);
    return last != others.rend() && last->result.get() != &sweep;
}

void take_sweep_event(LabState& lab, const Event& event) {
    const auto found = std::find_if(lab.sweeps.begin(), lab.sweeps.end(),
                                    [&](const BackgroundSweep& s) { return s.answers_to(event.ticket); });
    if (found == lab.sweeps.end()) return;  // it belongs to a cancelled sweep
    BackgroundSweep& sweep = *found;
    if (event.kind == Event::Kind::cell) {
        sweep.done = event.sweep_result->cells.size();
        if (event.figures && (!sweep.of_earlier_base || sweep.done > 1)) {
            sweep.figures = event.figures;
            sweep.of_earlier_base = false;
        }
        if (event.sweep_result->complete && sweep.ticket) {
            sweep.finished = std::exchange(sweep.ticket, 0);
            note(lab, LogLine::Kind::done, sweep.title + ": " + count_words(sweep.done, "point"));
            if (sweep.by_person) keep_best(sweep, *event.sweep_result);
            // What was started by hand and saved stays in its file.
            if (std::exchange(sweep.is_saved, false) && sweep.by_person)
                lab.session.sweeps.push_back({sweep.result, sweep.result_figures, true});
        }
        // Newer results renew cells of a finished sweep.
        if (event.sweep_result->complete) {
            sweep.result = event.sweep_result;
            sweep.result_figures = event.figures;
            ++lab.session.revision;
        }
    }
    if (event.kind == Event::Kind::failed) {
        sweep.ticket = 0;
        if (event.error->kind == Error::Kind::cancelled) return;
        sweep.problem = event.error->text;
        note(lab, LogLine::Kind::problem, fmt::format("{}: {}", sweep.title, sweep.problem));
    }
}

void cancel_sweep(LabState& lab, BackgroundSweep& sweep) {
    const uint64_t known = sweep.ticket ? sweep.ticket : sweep.finished;
    if (!known) return;
    lab.engine.cancel_sweep(known);
    sweep.ticket = sweep.finished = 0;
}

void cancel_outdated_sweeps(LabState& lab) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.ticket && !sweep.by_person && is_outdated(lab, sweep)) cancel_sweep(lab, sweep);
}

void cancel_sweeps(LabState& lab) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.ticket) cancel_sweep(lab, sweep);
    lab.sweeps_due.reset();
}

void remove_sweep(LabState& lab, const std::string& key) {
    for (BackgroundSweep& sweep : lab.sweeps)
        if (sweep.key == key) cancel_sweep(lab, sweep);
    std::erase_if(lab.sweeps, [&](const BackgroundSweep& sweep) { return sweep.key == key; });
}

bool is_outdated(const LabState& lab, const BackgroundSweep& sweep) {
    return differs(lab, sweep, request_of(lab), lab.parameters, backend_in_force(lab), sweep.compared);
}

bool is_of_other_settings(const LabState& lab, const BackgroundSweep& sweep) {
    if (!lab.looking_back || !lab.result) return is_outdated(lab, sweep);
    const Result& shown = *lab.result;
    return differs(lab, sweep, shown.request, shown.parameters, shown.backend, sweep.compared_back);
}

bool sweeps_run(const LabState& lab) {
    return std::any_of(lab.sweeps.begin(), lab.sweeps.end(),
                       [](const BackgroundSweep& s) { return s.ticket != 0; });
}

}  // namespace sawtooth
